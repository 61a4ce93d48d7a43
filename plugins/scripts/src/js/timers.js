// Timers run in the order of their times. Nothing else can happen, so there is no waiting.
const waiting = new Map();
let now = 0;
let last = 0;

class Timeout {
  constructor(id) {
    this.id = id;
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  hasRef() {
    return true;
  }

  [Symbol.toPrimitive]() {
    return this.id;
  }
}

function start(callback, delay, values, isRepeated) {
  if (typeof callback !== 'function') {
    const error = new TypeError('The "callback" argument must be of type function');
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  }
  const pause = Math.max(Number(delay) || 0, delay === -1 ? 0 : 1);
  const id = ++last;
  waiting.set(id, { id, callback, values, at: now + pause, pause, isRepeated });
  return new Timeout(id);
}

function stop(timer) {
  waiting.delete(Number(timer instanceof Timeout ? timer.id : timer));
}

// Runs the next timer; false if there is none.
function runNext() {
  let next;
  for (const timer of waiting.values()) if (next === undefined || timer.at < next.at) next = timer;
  if (next === undefined) return false;
  now = Math.max(now, next.at);
  waiting.delete(next.id);
  if (next.isRepeated) waiting.set(next.id, { ...next, at: now + next.pause });
  next.callback(...next.values);
  return true;
}

const setTimeout = (callback, delay, ...values) => start(callback, delay, values, false);
const setInterval = (callback, delay, ...values) => start(callback, delay, values, true);
const setImmediate = (callback, ...values) => start(callback, -1, values, false);

const promises = {
  setTimeout: (delay, value) => new Promise((resolve) => setTimeout(resolve, delay, value)),
  setImmediate: (value) => new Promise((resolve) => setImmediate(resolve, value)),
};

module.exports = {
  runNext,
  globals: {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  },
  promises,
};
