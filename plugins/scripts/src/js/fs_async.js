// The functions of `fs` that promise a result, or call back with it.
const withoutPromise = new Set(['existsSync']);

function from(sync) {
  const promises = {};
  const callbacks = {};
  for (const [name, action] of Object.entries(sync)) {
    const short = name.replace(/Sync$/, '');
    callbacks[short] = (...values) => callBack(short, action, values);
    if (!withoutPromise.has(name)) promises[short] = async (...values) => action(...values);
  }
  promises.glob = async function* (...values) {
    yield* sync.globSync(...values);
  };
  promises.constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1 };
  return { ...callbacks, promises };
}

function callBack(name, action, values) {
  const callback = values.pop();
  if (typeof callback !== 'function') {
    throw require('failures').wrongType('cb', 'of type function', callback);
  }
  const { setImmediate } = require('timers').globals;
  if (name === 'exists') {
    setImmediate(callback, action(...values));
    return;
  }
  let result;
  try {
    result = action(...values);
  } catch (error) {
    setImmediate(callback, error);
    return;
  }
  setImmediate(callback, null, result);
}

module.exports = { from };
