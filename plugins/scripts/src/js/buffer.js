// A `Buffer` for what scripts mostly do with one: it is a `Uint8Array` that knows encodings.
const { bytesOf, decode, encode, encodingNamed } = require('encoding');

class Buffer extends Uint8Array {
  static from(source, second, third) {
    if (typeof source === 'string') return view(encode(source, second));
    if (source instanceof ArrayBuffer) return new Buffer(source, second, third);
    if (ArrayBuffer.isView(source)) return Buffer.copy(source);
    const inner = source?.type === 'Buffer' && Array.isArray(source.data) ? source.data : source;
    if (inner !== null && typeof inner === 'object') return Buffer.copy(Uint8Array.from(inner));
    const error = new TypeError(
      'The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array',
    );
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  }

  static copy(source) {
    const bytes = bytesOf(source);
    const copied = new Buffer(bytes.length);
    copied.set(bytes);
    return copied;
  }

  static alloc(size, filling = 0, encoding = 'utf8') {
    const buffer = new Buffer(size);
    return filling === 0 ? buffer : buffer.fill(filling, 0, size, encoding);
  }

  static allocUnsafe(size) {
    return new Buffer(size);
  }

  static concat(list, length = list.reduce((sum, bytes) => sum + bytes.length, 0)) {
    const whole = new Buffer(length);
    let offset = 0;
    for (const bytes of list) {
      whole.set(bytes.subarray(0, Math.max(length - offset, 0)), offset);
      offset = Math.min(offset + bytes.length, length);
    }
    return whole;
  }

  static isBuffer(value) {
    return value instanceof Buffer;
  }

  static isEncoding(name) {
    try {
      return typeof name === 'string' && encodingNamed(name) !== undefined;
    } catch {
      return false;
    }
  }

  static byteLength(source, encoding) {
    return typeof source === 'string' ? encode(source, encoding).length : source.byteLength;
  }

  static compare(left, right) {
    const shorter = Math.min(left.length, right.length);
    for (let i = 0; i < shorter; i++) if (left[i] !== right[i]) return left[i] < right[i] ? -1 : 1;
    return Math.sign(left.length - right.length);
  }

  toString(encoding, start = 0, end = this.length) {
    return decode(bytesOf(this).subarray(Math.max(start, 0), end), encoding);
  }

  toJSON() {
    return { type: 'Buffer', data: [...this] };
  }

  equals(other) {
    return Buffer.compare(this, other) === 0;
  }

  compare(other) {
    return Buffer.compare(this, other);
  }

  // A view, and not a copy as that of other typed arrays.
  slice(start, end) {
    return this.subarray(start, end);
  }

  write(text, offset = 0, length = this.length - offset, encoding = 'utf8') {
    if (typeof offset === 'string') return this.write(text, 0, this.length, offset);
    if (typeof length === 'string') return this.write(text, offset, this.length - offset, length);
    const bytes = encode(text, encoding).subarray(0, Math.min(length, this.length - offset));
    this.set(bytes, offset);
    return bytes.length;
  }

  copy(target, at = 0, start = 0, end = this.length) {
    const bytes = this.subarray(start, Math.min(end, start + target.length - at));
    target.set(bytes, at);
    return bytes.length;
  }

  fill(value, start = 0, end = this.length, encoding = 'utf8') {
    if (typeof value === 'number') return super.fill(value, start, end);
    const bytes = typeof value === 'string' ? encode(value, encoding) : value;
    for (let i = start; i < end; i++)
      this[i] = bytes.length === 0 ? 0 : bytes[(i - start) % bytes.length];
    return this;
  }

  indexOf(value, from = 0, encoding = 'utf8') {
    if (typeof value === 'number') return super.indexOf(value, from);
    const bytes = typeof value === 'string' ? encode(value, encoding) : value;
    for (let i = from; i + bytes.length <= this.length; i++) {
      if (bytes.every((byte, offset) => this[i + offset] === byte)) return i;
    }
    return -1;
  }

  includes(value, from = 0, encoding = 'utf8') {
    return this.indexOf(value, from, encoding) >= 0;
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    const shown = [...bytesOf(this).subarray(0, 50)]
      .map((byte) => ` ${byte.toString(16).padStart(2, '0')}`)
      .join('');
    const rest =
      this.length > 50 ? ` ... ${this.length - 50} more byte${this.length > 51 ? 's' : ''}` : '';
    return `<Buffer${shown}${rest}>`;
  }
}

// The integers and floats of a `DataView`, by the names that a Buffer gives them.
const numbers = {
  UInt8: 1,
  Int8: 1,
  UInt16: 2,
  Int16: 2,
  UInt32: 4,
  Int32: 4,
  Float: 4,
  Double: 8,
  BigUInt64: 8,
  BigInt64: 8,
};
for (const [name, size] of Object.entries(numbers)) {
  const method = { Float: 'Float32', Double: 'Float64' }[name] ?? name.replace('UInt', 'Uint');
  for (const order of size === 1 ? [''] : ['LE', 'BE']) {
    const read = function (offset = 0) {
      return viewOf(this)[`get${method}`](offset, order === 'LE');
    };
    const write = function (value, offset = 0) {
      viewOf(this)[`set${method}`](offset, value, order === 'LE');
      return offset + size;
    };
    const named = { [`read${name}${order}`]: read, [`write${name}${order}`]: write };
    for (const [key, value] of Object.entries(named)) {
      Object.defineProperty(Buffer.prototype, key, { value, writable: true, configurable: true });
    }
  }
}

function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function view(bytes) {
  return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

module.exports = { Buffer, view };
