// The module `assert`.
const { deepEqual } = require('deep_equal');
const { inspect } = require('inspect');

class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message);
    this.generatedMessage = false;
    this.code = 'ERR_ASSERTION';
    Object.assign(this, { actual, expected, operator });
  }

  get name() {
    return 'AssertionError';
  }
}

function fail(details, message) {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ ...details, message: message ?? details.message });
  error.generatedMessage = message === undefined;
  throw error;
}

function compare(operator, title, isMet) {
  return (actual, expected, message) => {
    if (isMet(actual, expected)) return;
    const shown = `${title}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
    fail({ actual, expected, operator, message: shown }, message);
  };
}

function ok(value, message) {
  if (value) return;
  const text = 'The expression evaluated to a falsy value';
  fail({ actual: value, expected: true, operator: '==', message: text }, message);
}

// Whether an error is the expected one: a class, a pattern, a function, or properties.
function meets(error, expected) {
  if (expected === undefined || typeof expected === 'string') return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return true;
    if (Error.isPrototypeOf(expected) || expected === Error) return false;
    return expected.call({}, error) === true;
  }
  const keys =
    expected instanceof Error
      ? ['name', 'message', ...Object.keys(expected)]
      : Object.keys(expected);
  return keys.every((key) => {
    if (expected[key] instanceof RegExp && typeof error?.[key] === 'string')
      return expected[key].test(error[key]);
    return deepEqual(error?.[key], expected[key], true);
  });
}

function caught(operator, thrown, expected, message) {
  const text = typeof expected === 'string' ? expected : message;
  if (thrown === undefined) {
    const missing =
      operator === 'rejects' ? 'Missing expected rejection.' : 'Missing expected exception.';
    fail({ actual: undefined, expected, operator, message: missing }, text);
  }
  if (meets(thrown.error, expected)) return;
  if (typeof expected === 'function' && message === undefined) throw thrown.error;
  const shown = `The error does not match ${inspect(expected)}:\n\n${inspect(thrown.error)}\n`;
  fail({ actual: thrown.error, expected, operator, message: shown }, message);
}

function throws(action, expected, message) {
  let thrown;
  try {
    action();
  } catch (error) {
    thrown = { error };
  }
  caught('throws', thrown, expected, message);
}

async function rejects(action, expected, message) {
  let thrown;
  try {
    await (typeof action === 'function' ? action() : action);
  } catch (error) {
    thrown = { error };
  }
  caught('rejects', thrown, expected, message);
}

function unwanted(operator, error, message) {
  const text = `Got unwanted ${operator === 'doesNotReject' ? 'rejection' : 'exception'}.\nActual message: "${error?.message}"`;
  fail({ actual: error, operator, message: text }, message);
}

function doesNotThrow(action, message) {
  try {
    action();
  } catch (error) {
    unwanted('doesNotThrow', error, message);
  }
}

async function doesNotReject(action, message) {
  try {
    await (typeof action === 'function' ? action() : action);
  } catch (error) {
    unwanted('doesNotReject', error, message);
  }
}

function ifError(value) {
  if (value === null || value === undefined) return;
  fail({
    actual: value,
    expected: null,
    operator: 'ifError',
    message: `ifError got unwanted exception: ${value?.message ?? inspect(value)}`,
  });
}

const strictTitle = 'Expected values to be strictly equal:';
const deepTitle = 'Expected values to be strictly deep-equal:';
const strict = {
  strictEqual: compare('strictEqual', strictTitle, Object.is),
  notStrictEqual: compare(
    'notStrictEqual',
    'Expected "actual" to be strictly unequal to:',
    (a, b) => !Object.is(a, b),
  ),
  deepStrictEqual: compare('deepStrictEqual', deepTitle, (a, b) => deepEqual(a, b, true)),
  notDeepStrictEqual: compare(
    'notDeepStrictEqual',
    'Expected "actual" not to be strictly deep-equal to:',
    (a, b) => !deepEqual(a, b, true),
  ),
};
const loose = {
  equal: compare('==', 'Expected values to be loosely equal:', (a, b) => a == b || Object.is(a, b)),
  notEqual: compare('!=', 'Expected "actual" to be loosely unequal to:', (a, b) => a != b),
  deepEqual: compare('deepEqual', 'Expected values to be loosely deep-equal:', (a, b) =>
    deepEqual(a, b, false),
  ),
  notDeepEqual: compare(
    'notDeepEqual',
    'Expected "actual" not to be loosely deep-equal to:',
    (a, b) => !deepEqual(a, b, false),
  ),
};
const common = {
  AssertionError,
  doesNotMatch: compare(
    'doesNotMatch',
    'The input was expected to not match the regular expression:',
    (text, pattern) => !pattern.test(text),
  ),
  doesNotReject,
  doesNotThrow,
  fail: (message = 'Failed') => fail({ operator: 'fail', message }, message),
  ifError,
  match: compare('match', 'The input did not match the regular expression:', (text, pattern) =>
    pattern.test(text),
  ),
  ok,
  rejects,
  throws,
};

const assert = Object.assign((value, message) => ok(value, message), common, strict, loose);
assert.strict = Object.assign((value, message) => ok(value, message), common, strict, {
  equal: strict.strictEqual,
  notEqual: strict.notStrictEqual,
  deepEqual: strict.deepStrictEqual,
  notDeepEqual: strict.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
module.exports = assert;
