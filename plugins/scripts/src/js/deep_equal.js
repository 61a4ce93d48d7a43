// Compares values with all that they hold.
function deepEqual(left, right, isStrict, compared = new Map()) {
  if (isStrict ? Object.is(left, right) : left == right || Object.is(left, right)) return true;
  if (!isObject(left) || !isObject(right)) return false;
  if (isStrict && Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  // Objects that are being compared count as equal, so that cycles end.
  if (compared.get(left) === right) return true;
  compared.set(left, right);
  const equal = (one, other) => deepEqual(one, other, isStrict, compared);
  return sameContent(left, right, equal) && sameProperties(left, right, equal);
}

const isObject = (value) => value !== null && typeof value === 'object';

function sameContent(left, right, equal) {
  const has = (type) => left instanceof type || right instanceof type;
  const both = (type) => left instanceof type && right instanceof type;
  if (has(Date)) return both(Date) && Object.is(left.getTime(), right.getTime());
  if (has(RegExp)) return both(RegExp) && String(left) === String(right);
  if (has(Error)) return both(Error) && left.name === right.name && left.message === right.message;
  if (has(Map)) return both(Map) && left.size === right.size && sameMap(left, right, equal);
  if (has(Set)) return both(Set) && left.size === right.size && sameSet(left, right, equal);
  if (has(Number) || has(String) || has(Boolean)) return Object.is(left.valueOf(), right.valueOf());
  return true;
}

function sameMap(left, right, equal) {
  return [...left].every(([key, value]) => {
    if (right.has(key)) return equal(value, right.get(key));
    return (
      isObject(key) && [...right].some(([other, held]) => equal(key, other) && equal(value, held))
    );
  });
}

function sameSet(left, right, equal) {
  return [...left].every(
    (value) =>
      right.has(value) || (isObject(value) && [...right].some((other) => equal(value, other))),
  );
}

function sameProperties(left, right, equal) {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length || left.length !== right.length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key]));
}

module.exports = { deepEqual };
