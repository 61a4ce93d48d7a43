// The global `structuredClone`.
function structuredClone(value) {
  return copy(value, new Map());
}

function copy(value, done) {
  if (typeof value === 'function' || typeof value === 'symbol') throw notCloneable(value);
  if (value === null || typeof value !== 'object') return value;
  if (done.has(value)) return done.get(value);
  const copied = empty(value);
  done.set(value, copied);
  if (value instanceof Map)
    for (const [key, held] of value) copied.set(copy(key, done), copy(held, done));
  else if (value instanceof Set) for (const held of value) copied.add(copy(held, done));
  else if (value instanceof Error) copyError(value, copied, done);
  else if (!isWhole(value))
    for (const key of Object.keys(value)) copied[key] = copy(value[key], done);
  return copied;
}

const whole = [Date, RegExp, ArrayBuffer, Number, String, Boolean];

// Nothing in it has to be copied one by one.
function isWhole(value) {
  return ArrayBuffer.isView(value) || whole.some((type) => value instanceof type);
}

function empty(value) {
  if (Array.isArray(value)) return new Array(value.length);
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (value instanceof ArrayBuffer) return value.slice(0);
  if (value instanceof DataView)
    return new DataView(value.buffer.slice(0), value.byteOffset, value.byteLength);
  if (ArrayBuffer.isView(value)) return Uint8Array.prototype.slice.call(value);
  if (value instanceof Error) return new (errors[value.name] ?? Error)(value.message);
  if (value instanceof Number || value instanceof String || value instanceof Boolean)
    return Object(value.valueOf());
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet)
    throw notCloneable(value);
  return {};
}

const errors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

function copyError(value, copied, done) {
  Object.defineProperty(copied, 'stack', {
    value: value.stack,
    writable: true,
    configurable: true,
  });
  if (Object.hasOwn(value, 'cause')) {
    const cause = copy(value.cause, done);
    Object.defineProperty(copied, 'cause', { value: cause, writable: true, configurable: true });
  }
}

function notCloneable(value) {
  return new DOMException(`${String(value)} could not be cloned.`, 'DataCloneError');
}

module.exports = { structuredClone };
