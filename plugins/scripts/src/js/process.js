// The global `process`.
const { decode } = require('encoding');

const listeners = new Map();
const began = performance.now();

function stream(isError) {
  return {
    isTTY: false,
    columns: 80,
    fd: isError ? 2 : 1,
    write(data, ...rest) {
      const text = data instanceof Uint8Array ? decode(data) : data;
      if (typeof text !== 'string') {
        throw require('failures').wrongType(
          'chunk',
          'of type string or an instance of Buffer or Uint8Array',
          data,
        );
      }
      native.write(isError, text.toWellFormed());
      const callback = rest.at(-1);
      if (typeof callback === 'function') queueMicrotask(callback);
      return true;
    },
    end(data) {
      if (data !== undefined) this.write(data);
    },
    on() {
      return this;
    },
    once() {
      return this;
    },
  };
}

function exit(code = process.exitCode) {
  const status = finish(code);
  native.exit(status);
  // The engine checks now and then if it was called; scripts can't catch that.
  for (;;);
}

function finish(code) {
  const status = Number(code ?? 0) | 0;
  process.exitCode = status;
  const waiting = listeners.get('exit') ?? [];
  listeners.delete('exit');
  for (const listener of waiting) listener.call(process, status);
  return Number(process.exitCode ?? 0) | 0;
}

function on(event, listener) {
  listeners.set(event, [...(listeners.get(event) ?? []), listener]);
  return process;
}

function hrtime(before) {
  const time = performance.now();
  const now = [Math.floor(time / 1000), Math.floor((time % 1000) * 1e6)];
  if (before === undefined) return now;
  const isEarlier = now[1] < before[1];
  return [now[0] - before[0] - (isEarlier ? 1 : 0), now[1] - before[1] + (isEarlier ? 1e9 : 0)];
}
hrtime.bigint = () => BigInt(Math.floor(performance.now() * 1e6));

const process = {
  arch: 'wasm32',
  argv: ['scripts', native.main, ...native.args],
  argv0: 'scripts',
  cwd: native.cwd,
  env: native.env,
  execArgv: [],
  exit,
  exitCode: undefined,
  hrtime,
  nextTick: (callback, ...values) => queueMicrotask(() => callback(...values)),
  on,
  once: on,
  off: () => process,
  emitWarning: (warning) =>
    native.write(true, `Warning: ${warning?.message ?? warning}\n`.toWellFormed()),
  pid: 1,
  platform: 'wasi',
  stderr: stream(true),
  stdout: stream(false),
  uptime: () => (performance.now() - began) / 1000,
};
Object.defineProperty(process, 'finish', { value: finish });
module.exports = process;
