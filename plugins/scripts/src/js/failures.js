// The errors of the system, as Node words them.
function failed({ code, errno, text }, syscall, path, target) {
  const paths =
    path === undefined ? '' : ` '${path}'${target === undefined ? '' : ` -> '${target}'`}`;
  const error = new Error(`${code}: ${text}, ${syscall}${paths}`);
  Object.assign(error, { errno, code, syscall });
  if (path !== undefined) error.path = path;
  if (target !== undefined) error.dest = target;
  return error;
}

// Returns the result of a system function, or throws its error.
function done(result, syscall, path, target) {
  if (typeof result !== 'object' || !Object.hasOwn(result, 'code')) return result;
  const error = failed(result, syscall, path, target);
  Error.captureStackTrace(error, done);
  throw error;
}

function wrongType(name, expected, value) {
  const received = value === null || value === undefined ? String(value) : `type ${typeof value}`;
  const error = new TypeError(`The "${name}" argument must be ${expected}. Received ${received}`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

module.exports = { done, failed, wrongType };
