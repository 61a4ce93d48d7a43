// Text and bytes: `TextEncoder`, `TextDecoder`, and the encodings that files and buffers know.
class TextEncoder {
  get encoding() {
    return 'utf-8';
  }

  encode(text = '') {
    return native.encode(String(text).toWellFormed());
  }

  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = this.encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      read += character.length;
      written += bytes.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #isFatal;
  #keepsMark;

  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) {
      throw new RangeError(`The "${label}" encoding is not supported: only utf-8 is`);
    }
    this.#isFatal = Boolean(fatal);
    this.#keepsMark = Boolean(ignoreBOM);
  }

  get encoding() {
    return 'utf-8';
  }

  get fatal() {
    return this.#isFatal;
  }

  get ignoreBOM() {
    return this.#keepsMark;
  }

  decode(source = new Uint8Array()) {
    const text = native.decode(bytesOf(source).toHex(), this.#isFatal);
    if (text === undefined) {
      const error = new TypeError('The encoded data was not valid for encoding utf-8');
      error.code = 'ERR_ENCODING_INVALID_ENCODED_DATA';
      throw error;
    }
    return !this.#keepsMark && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

function bytesOf(source) {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source))
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return new Uint8Array(source);
}

const names = {
  'utf8': 'utf8',
  'utf-8': 'utf8',
  'hex': 'hex',
  'base64': 'base64',
  'base64url': 'base64url',
  'ascii': 'latin1',
  'latin1': 'latin1',
  'binary': 'latin1',
  'utf16le': 'utf16le',
  'utf-16le': 'utf16le',
  'ucs2': 'utf16le',
  'ucs-2': 'utf16le',
};

function encodingNamed(name) {
  const found = names[String(name ?? 'utf8').toLowerCase()];
  if (found !== undefined) return found;
  const error = new TypeError(`Unknown encoding: ${name}`);
  error.code = 'ERR_UNKNOWN_ENCODING';
  throw error;
}

function encode(text, encoding) {
  switch (encodingNamed(encoding)) {
    case 'hex': {
      const pairs = /^(?:[0-9a-f]{2})*/i.exec(text)[0];
      return Uint8Array.fromHex(pairs);
    }
    case 'base64':
    case 'base64url':
      return fromBase64(text);
    case 'latin1':
      return Uint8Array.from(text, (character) => character.charCodeAt(0));
    case 'utf16le': {
      const bytes = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++)
        bytes.set([text.charCodeAt(i) & 255, text.charCodeAt(i) >> 8], i * 2);
      return bytes;
    }
    default:
      return native.encode(text.toWellFormed());
  }
}

// Both alphabets, and whatever else is in between is left out.
function fromBase64(text) {
  const digits = text
    .replace(/=.*$/s, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return Uint8Array.fromBase64(whole.padEnd(Math.ceil(whole.length / 4) * 4, '='));
}

function decode(bytes, encoding) {
  switch (encodingNamed(encoding)) {
    case 'hex':
      return bytes.toHex();
    case 'base64':
      return bytes.toBase64();
    case 'base64url':
      return bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
    case 'latin1':
      return characters(bytes);
    case 'utf16le': {
      const units = Array.from(
        { length: bytes.length >> 1 },
        (_, i) => bytes[i * 2] | (bytes[i * 2 + 1] << 8),
      );
      return characters(units);
    }
    default:
      return native.decode(bytes.toHex(), false);
  }
}

function characters(codes) {
  let text = '';
  for (let i = 0; i < codes.length; i += 4096)
    text += String.fromCharCode(...codes.slice(i, i + 4096));
  return text;
}

module.exports = { TextDecoder, TextEncoder, bytesOf, decode, encode, encodingNamed };
