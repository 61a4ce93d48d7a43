// The global `console`.
const { format } = require('format');
const { inspect } = require('inspect');

const counts = new Map();
const timers = new Map();
let indentation = '';

function print(isError, text) {
  const lines = indentation === '' ? text : indentation + text.replaceAll('\n', `\n${indentation}`);
  native.write(isError, `${lines}\n`.toWellFormed());
}

const log = (...values) => print(false, format(...values));
const warn = (...values) => print(true, format(...values));

function group(...values) {
  if (values.length > 0) log(...values);
  indentation += '  ';
}

function elapsed(label) {
  const start = timers.get(label);
  return start === undefined ? undefined : `${label}: ${(performance.now() - start).toFixed(3)}ms`;
}

module.exports = {
  log,
  info: log,
  debug: log,
  warn,
  error: warn,
  trace: (...values) =>
    warn(`Trace: ${format(...values)}\n${new Error().stack.split('\n').slice(2).join('\n')}`),
  dir: (value, options) => print(false, inspect(value, options)),
  dirxml: log,
  assert(condition, ...values) {
    if (condition) return;
    if (typeof values[0] === 'string') warn(`Assertion failed: ${values[0]}`, ...values.slice(1));
    else warn('Assertion failed', ...values);
  },
  count(label = 'default') {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    log(`${label}: ${counts.get(label)}`);
  },
  countReset: (label = 'default') => void counts.delete(label),
  group,
  groupCollapsed: group,
  groupEnd: () => void (indentation = indentation.slice(2)),
  table: (rows) =>
    print(
      false,
      rows !== null && typeof rows === 'object' ? require('table').table(rows) : format(rows),
    ),
  time: (label = 'default') => void timers.set(label, performance.now()),
  timeLog: (label = 'default', ...values) =>
    log(elapsed(label) ?? `${label}: no such timer`, ...values),
  timeEnd(label = 'default') {
    log(elapsed(label) ?? `${label}: no such timer`);
    timers.delete(label);
  },
};
