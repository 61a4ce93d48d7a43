// The module `util`.
const { deepEqual } = require('deep_equal');
const { TextDecoder, TextEncoder } = require('encoding');
const { format } = require('format');
const { inspect } = require('inspect');
const { isError } = require('shapes');

function promisify(action) {
  return (...values) =>
    new Promise((resolve, reject) => {
      action(...values, (error, result) => (error ? reject(error) : resolve(result)));
    });
}

function inherits(type, parent) {
  Object.defineProperty(type, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(type.prototype, parent.prototype);
}

const types = {
  isDate: (value) => value instanceof Date,
  isMap: (value) => value instanceof Map,
  isNativeError: isError,
  isPromise: (value) => value instanceof Promise,
  isRegExp: (value) => value instanceof RegExp,
  isSet: (value) => value instanceof Set,
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: (value) => value instanceof Uint8Array,
};

module.exports = {
  TextDecoder,
  TextEncoder,
  deprecate: (action) => action,
  format,
  inherits,
  inspect,
  isDeepStrictEqual: (left, right) => deepEqual(left, right, true),
  promisify,
  types,
};
