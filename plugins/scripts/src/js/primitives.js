// Shows primitive values and the keys of properties.
const identifier = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const escapes = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };
const lonely = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes('`') && !text.includes('${')) mark = '`';
  }
  const escaped = text.replace(/[\x00-\x1f'\\\x7f-\x9f]/g, (found) => {
    if (found === "'") return mark === "'" ? "\\'" : found;
    return (
      escapes[found] ?? `\\x${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    );
  });
  const shown = escaped.replace(
    lonely,
    (found) => `\\u${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return mark + shown + mark;
}

function inspectKey(key) {
  if (typeof key === 'symbol') return `[${String(key)}]`;
  if (key === '__proto__') return "['__proto__']";
  return identifier.test(key) ? key : quote(key);
}

function inspectPrimitive(state, value) {
  switch (typeof value) {
    case 'string':
      return inspectString(state, value);
    case 'number':
      return Object.is(value, -0) ? '-0' : `${value}`;
    case 'bigint':
      return `${value}n`;
    default:
      return String(value);
  }
}

// A long text is shown line by line.
function inspectString(state, text) {
  const rest = text.length - state.maxStringLength;
  const shown = rest > 0 ? text.slice(0, state.maxStringLength) : text;
  const more = rest > 0 ? `... ${rest} more character${rest > 1 ? 's' : ''}` : '';
  if (shown.length > 16 && shown.length > state.breakLength - state.indentation - 4) {
    const lines = shown.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return lines.map(quote).join(` +\n${' '.repeat(state.indentation + 2)}`) + more;
  }
  return quote(shown) + more;
}

module.exports = { inspectKey, inspectPrimitive, quote };
