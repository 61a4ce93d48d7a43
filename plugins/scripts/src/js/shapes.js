// Says of an object how it is shown: `whole`, or what goes between which braces, after a `base`.
const { inspectPrimitive } = require('primitives');

const none = () => [];
const { toString } = Function.prototype;
const TypedArray = Object.getPrototypeOf(Uint8Array);

function shapeOf(value, state) {
  const name = constructorName(value);
  const described = { value, state, name, tag: tagOf(value, name), keys: keysOf(value) };
  if (Array.isArray(value)) return array(described);
  if (value instanceof TypedArray) return typedArray(described);
  if (typeof value === 'function') return based(described, functionBase(described));
  if (isError(value)) return error(described);
  for (const [type, shape] of special) if (value instanceof type) return shape(described);
  return object(described);
}

function constructorName(value) {
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, 'constructor');
    if (
      typeof found?.value === 'function' &&
      found.value.name !== '' &&
      value instanceof found.value
    ) {
      return String(found.value.name);
    }
  }
  return null;
}

function tagOf(value, name) {
  const tag = value[Symbol.toStringTag];
  return typeof tag === 'string' && tag !== '' && tag !== name ? tag : '';
}

function keysOf(value) {
  const symbols = Object.getOwnPropertySymbols(value);
  return [
    ...Object.keys(value),
    ...symbols.filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)),
  ];
}

function prefix({ name, tag }, fallback, size = '') {
  const shown = name === null ? `[${fallback}${size}: null prototype]` : `${name}${size}`;
  return tag === '' ? `${shown} ` : `${shown} [${tag}] `;
}

function braced(
  described,
  [open, close],
  entries,
  { isList = false, keys = described.keys, base = '' } = {},
) {
  return {
    name: described.name ?? described.tag,
    base,
    braces: [open, close],
    keys,
    entries,
    isList,
  };
}

function object(described) {
  const isPlain = described.name === 'Object' && described.tag === '';
  const isModule = described.name === null && described.tag === 'Module';
  const before = isPlain
    ? ''
    : isModule
      ? '[Module: null prototype] '
      : prefix(described, 'Object');
  if (described.keys.length === 0) return { whole: `${before}{}` };
  const shape = braced(described, [`${before}{`, '}'], none);
  return {
    ...shape,
    name: before === '' ? 'Object' : before.trimEnd().replace(/^\[(.*)\]$/, '$1'),
  };
}

// Only the base, unless it was given properties.
function based(described, base) {
  if (described.keys.length === 0) return { whole: base };
  return braced(described, ['{', '}'], none, { base });
}

function array(described) {
  const { value, name, tag } = described;
  const before =
    name === 'Array' && tag === '' ? '' : prefix(described, 'Array', `(${value.length})`);
  const keys = described.keys.filter((key) => !isIndex(key));
  if (value.length === 0 && keys.length === 0) return { whole: `${before}[]` };
  return braced(described, [`${before}[`, ']'], (tools) => elements(value, tools), {
    isList: true,
    keys,
  });
}

function isIndex(key) {
  return typeof key === 'string' && /^(0|[1-9][0-9]*)$/.test(key);
}

function elements(value, { state, show, indented }) {
  const output = [];
  let index = 0;
  while (index < value.length && output.length < state.maxArrayLength) {
    if (Object.hasOwn(value, index)) {
      const shown = value[index++];
      output.push(indented(() => show(shown)));
      continue;
    }
    const first = index;
    while (index < value.length && !Object.hasOwn(value, index)) index++;
    output.push(`<${index - first} empty item${index - first > 1 ? 's' : ''}>`);
  }
  return [...output, ...more(value.length - index)];
}

function more(count) {
  return count > 0 ? [`... ${count} more item${count > 1 ? 's' : ''}`] : [];
}

function typedArray(described) {
  const { value } = described;
  const before = prefix({ ...described, tag: '' }, 'TypedArray', `(${value.length})`);
  const keys = described.keys.filter((key) => !isIndex(key));
  if (value.length === 0 && keys.length === 0) return { whole: `${before}[]` };
  return braced(described, [`${before}[`, ']'], (tools) => elements(value, tools), {
    isList: true,
    keys,
  });
}

function functionBase({ value, name, tag }) {
  const source = toString.call(value);
  const called = typeof value.name === 'string' ? value.name : '';
  if (source.startsWith('class')) {
    const parent = Object.getPrototypeOf(value);
    const extended = parent !== Function.prototype && parent?.name ? ` extends ${parent.name}` : '';
    return `[class ${called || '(anonymous)'}${extended}]`;
  }
  const kind = tag === '' ? (name ?? 'Function') : tag;
  return called === '' ? `[${kind} (anonymous)]` : `[${kind}: ${called}]`;
}

function isError(value) {
  return value instanceof Error || Error.isError?.(value) === true;
}

function error(described) {
  const { value, state } = described;
  const stack = typeof value.stack === 'string' && value.stack !== '' ? value.stack : undefined;
  const title = titleOf(value);
  let base = stack === undefined ? `[${title}]` : titled(stack, title);
  if (stack !== undefined && !/\n {4}at /.test(base)) base = `[${base}]`;
  if (state.indentation > 0) base = base.replaceAll('\n', `\n${' '.repeat(state.indentation)}`);
  const keys = described.keys.filter(
    (key) => !['stack', 'message', 'name'].includes(key) || !base.includes(value[key]),
  );
  for (const hidden of ['cause', 'errors']) {
    if (Object.hasOwn(value, hidden) && !keys.includes(hidden)) keys.push(hidden);
  }
  return based({ ...described, keys }, base);
}

function titleOf(value) {
  try {
    return String(value);
  } catch {
    return 'Error';
  }
}

// The stack is written when the error is made; its name or message may have been given to it later.
function titled(stack, title) {
  if (stack.startsWith(title)) return stack;
  const frames = stack.search(/^ {4}at /m);
  return frames < 0 ? stack : `${title}\n${stack.slice(frames)}`;
}

function set(described) {
  const { value } = described;
  const before = prefix(described, 'Set', `(${value.size})`);
  if (value.size === 0 && described.keys.length === 0) return { whole: `${before}{}` };
  return braced(described, [`${before}{`, '}'], ({ state, show, indented }) => {
    const shown = [...value].slice(0, state.maxArrayLength);
    return [...indented(() => shown.map(show)), ...more(value.size - shown.length)];
  });
}

function map(described) {
  const { value } = described;
  const before = prefix(described, 'Map', `(${value.size})`);
  if (value.size === 0 && described.keys.length === 0) return { whole: `${before}{}` };
  return braced(described, [`${before}{`, '}'], ({ state, show, indented }) => {
    const shown = [...value].slice(0, state.maxArrayLength);
    const entries = indented(() => shown.map(([key, held]) => `${show(key)} => ${show(held)}`));
    return [...entries, ...more(value.size - shown.length)];
  });
}

function promise(described) {
  return braced(described, [`${prefix(described, 'Promise')}{`, '}'], ({ show, indented }) => {
    const [state, settled] = native.promiseState(described.value);
    if (state === 'pending') return ['<pending>'];
    const shown = indented(() => show(settled));
    return [state === 'rejected' ? `<rejected> ${shown}` : shown];
  });
}

function unknown(described) {
  return braced(described, [`${prefix(described, 'Object')}{`, '}'], () => ['<items unknown>']);
}

function arrayBuffer(described) {
  return braced(described, [`${prefix(described, 'ArrayBuffer')}{`, '}'], () => {
    const bytes = new Uint8Array(described.value);
    const shown = [...bytes.subarray(0, 50)]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join(' ');
    const rest = bytes.length > 50 ? ` ... ${bytes.length - 50} more bytes` : '';
    return [`[Uint8Contents]: <${shown}${rest}>`, `byteLength: ${bytes.length}`];
  });
}

function boxed(described) {
  const inner = described.value.valueOf();
  const keys =
    typeof inner === 'string' ? described.keys.filter((key) => !isIndex(key)) : described.keys;
  return based(
    { ...described, keys },
    `[${described.name}: ${inspectPrimitive(described.state, inner)}]`,
  );
}

function date(described) {
  const { value } = described;
  return based(described, Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString());
}

const special = [
  [Map, map],
  [Set, set],
  [Promise, promise],
  [WeakMap, unknown],
  [WeakSet, unknown],
  [ArrayBuffer, arrayBuffer],
  [Date, date],
  [RegExp, (described) => based(described, RegExp.prototype.toString.call(described.value))],
  [Number, boxed],
  [String, boxed],
  [Boolean, boxed],
];

module.exports = { shapeOf, isError };
