// Puts values into a text, as `console.log` and `util.format` do.
const { inspect } = require('inspect');

function format(...values) {
  if (typeof values[0] !== 'string') return shown(values).join(' ');
  let next = 1;
  const isTemplate = values.length > 1;
  const text = !isTemplate
    ? values[0]
    : values[0].replace(/%[sdifjoOc%]/g, (place) => {
        if (place === '%%') return '%';
        return next < values.length ? placed(place, values[next++]) : place;
      });
  return [text, ...shown(values.slice(next))].join(' ');
}

function shown(values) {
  return values.map((value) => (typeof value === 'string' ? value : inspect(value)));
}

function placed(place, value) {
  switch (place) {
    case '%s':
      return shortText(value);
    case '%d':
      return number(value, Number);
    case '%i':
      return number(value, Number.parseInt);
    case '%f':
      return typeof value === 'symbol' ? 'NaN' : `${Number.parseFloat(value)}`;
    case '%j':
      return json(value);
    case '%o':
      return inspect(value, { depth: 4 });
    case '%O':
      return inspect(value);
    default:
      return '';
  }
}

function shortText(value) {
  if (typeof value === 'bigint' || Object.is(value, -0)) return inspect(value);
  if (value === null || typeof value !== 'object') return String(value);
  return hasOwnText(value) ? String(value) : inspect(value, { depth: 0 });
}

// Whether its `toString` is none of the language's.
function hasOwnText(value) {
  let at = value;
  while (at !== null && !Object.hasOwn(at, 'toString')) at = Object.getPrototypeOf(at);
  return at !== null && at !== value ? !builtIn.has(at) : at === value;
}

const builtIn = new Set([Object, Array, Date, RegExp, Function].map((type) => type.prototype));

function number(value, parse) {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || (typeof value === 'object' && value !== null)) return 'NaN';
  return inspect(parse(value));
}

function json(value) {
  try {
    return String(JSON.stringify(value));
  } catch (error) {
    if (/circular/i.test(error.message)) return '[Circular]';
    throw error;
  }
}

module.exports = { format };
