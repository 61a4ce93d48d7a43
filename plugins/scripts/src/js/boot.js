// Makes the globals, and returns the functions that the engine calls.
const { Buffer } = require('buffer');
const { structuredClone } = require('clone');
const { TextDecoder, TextEncoder } = require('encoding');
const { inspect } = require('inspect');
const { describe, metaOf, requireFrom } = require('modules');
const paths = require('path');
const process = require('process');
const { resolve } = require('resolve');
const timers = require('timers');

// The message goes before the frames, and the frames of this program's own code are left out.
Error.prepareStackTrace = (error, frames) => {
  const shown = frames
    .filter((frame) => !String(frame.getFileName()).startsWith('node:') && !frame.isNative())
    .map(place);
  return [title(error), ...shown].join('\n');
};

function title(error) {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
}

function place(frame) {
  const name = frame.getFunctionName();
  const at = `${frame.getFileName()}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
  return name === null || name === undefined || name === ''
    ? `    at ${at}`
    : `    at ${name} (${at})`;
}

const main = { exports: {}, id: '.', filename: native.main, children: [] };
const globals = {
  ...timers.globals,
  Buffer,
  TextDecoder,
  TextEncoder,
  console: require('console'),
  exports: main.exports,
  global: globalThis,
  module: main,
  process,
  require: Object.assign(requireFrom(native.main), { main }),
  structuredClone,
  __dirname: paths.dirname(paths.resolve(native.main)),
  __filename: paths.resolve(native.main),
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

const unhandled = new Map();

function rejected(promise, reason, isHandled) {
  if (isHandled) unhandled.delete(promise);
  else unhandled.set(promise, reason);
}

// The text about an uncaught error.
function uncaught(reason) {
  try {
    // Without frames, an error would be in brackets.
    const shown = inspect(reason).replace(/^\[(\w*Error: .*?)\](?= \{\n|$)/s, '$1');
    return `Uncaught ${shown}\n`.toWellFormed();
  } catch {
    return 'Uncaught exception, which cannot be shown\n';
  }
}

module.exports = {
  describe,
  finish: (code) => process.finish(code ?? process.exitCode),
  firstUnhandled: () =>
    unhandled.size === 0 ? undefined : uncaught(unhandled.values().next().value),
  metaOf,
  rejected,
  resolve: (importer, specifier) => resolve(importer, specifier, true),
  runTimer: timers.runNext,
  uncaught,
};
