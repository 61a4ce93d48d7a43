// Shows values in the way of Node's `util.inspect`, without its options for colours, proxies and
// hidden properties.
const { group } = require('columns');
const { inspectKey, inspectPrimitive } = require('primitives');
const { shapeOf } = require('shapes');

const custom = Symbol.for('nodejs.util.inspect.custom');
const defaults = {
  depth: 2,
  compact: 3,
  breakLength: 80,
  maxArrayLength: 100,
  maxStringLength: 10000,
  sorted: false,
};
const limits = ['depth', 'breakLength', 'maxArrayLength', 'maxStringLength'];

function inspect(value, options, depth) {
  const given = options !== null && typeof options === 'object' ? options : {};
  const state = { ...defaults, ...given, seen: [], circular: new Map(), indentation: 0, level: 0 };
  if (depth !== undefined) state.depth = depth;
  for (const limit of limits) state[limit] ??= Infinity;
  if (typeof state.compact !== 'number') state.compact = state.compact ? 3 : 0;
  return inspectValue(state, value, 0);
}
inspect.custom = custom;
inspect.defaultOptions = defaults;

function inspectValue(state, value, level) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) {
    return inspectPrimitive(state, value);
  }
  const own = value[custom];
  if (typeof own === 'function' && own !== inspect) {
    const depth = state.depth - level;
    const shown = own.call(value, depth, { ...state, depth }, inspect);
    if (shown !== value)
      return typeof shown === 'string' ? shown : inspectValue(state, shown, level);
  }
  if (state.seen.includes(value)) {
    if (!state.circular.has(value)) state.circular.set(value, state.circular.size + 1);
    return `[Circular *${state.circular.get(value)}]`;
  }
  return inspectObject(state, value, level);
}

function inspectObject(state, value, level) {
  const shape = shapeOf(value, state);
  if (shape.whole !== undefined) return shape.whole;
  if (level > state.depth) return `[${shape.name}]`;
  const tools = {
    state,
    show: (inner) => inspectValue(state, inner, level + 1),
    indented: (action) => {
      state.indentation += 2;
      const result = action();
      state.indentation -= 2;
      return result;
    },
  };
  state.seen.push(value);
  state.level = level;
  const output = shape.entries(tools);
  for (const key of shape.keys) output.push(inspectProperty(value, key, tools));
  state.seen.pop();
  if (state.sorted && !shape.isList)
    output.sort(typeof state.sorted === 'function' ? state.sorted : undefined);
  return combine(state, output, marked(state, value, shape), level, value);
}

// Objects that contain themselves are numbered.
function marked(state, value, { base, braces, isList }) {
  if (!state.circular.has(value)) return { base, braces, isList };
  const mark = `<ref *${state.circular.get(value)}>`;
  if (base === '') return { base, braces: [`${mark} ${braces[0]}`, braces[1]], isList };
  return { base: `${mark} ${base}`, braces, isList };
}

// On one line, if it fits and has at most three levels.
function combine(state, entries, { base, braces, isList }, level, value) {
  const before = base === '' ? '' : `${base} `;
  const output =
    isList && entries.length > 6 && state.compact > 0 ? group(state, entries, value) : entries;
  if (state.level - level < state.compact && output.length === entries.length) {
    const start = output.length + state.indentation + braces[0].length + base.length + 10;
    if (fits(state, output, start, base)) {
      const joined = output.join(', ');
      if (!joined.includes('\n')) return `${before}${braces[0]} ${joined} ${braces[1]}`;
    }
  }
  const line = `\n${' '.repeat(state.indentation)}`;
  return `${before}${braces[0]}${line}  ${output.join(`,${line}  `)}${line}${braces[1]}`;
}

function fits(state, output, start, base) {
  let total = output.length + start;
  if (total + output.length > state.breakLength) return false;
  for (const entry of output) {
    total += entry.length;
    if (total > state.breakLength) return false;
  }
  return !base.includes('\n');
}

function inspectProperty(value, key, { show, indented }) {
  const found = Object.getOwnPropertyDescriptor(value, key) ?? {
    value: value[key],
    enumerable: true,
  };
  const name = found.enumerable ? inspectKey(key) : `[${String(key)}]`;
  if ('value' in found) return `${name}: ${indented(() => show(found.value))}`;
  const accessors = [found.get && 'Getter', found.set && 'Setter'].filter(Boolean).join('/');
  return `${name}: [${accessors}]`;
}

module.exports = { inspect };
