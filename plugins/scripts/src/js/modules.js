// Loads modules: built-in ones, CommonJS, JSON, and the text of others for the engine.
const { readFileSync } = require('fs');
const { typeOf } = require('packages');
const paths = require('path');
const { resolve } = require('resolve');
const { fileURLToPath, pathToFileURL } = require('url');

const loaded = new Map();
const parameters = 'exports, require, module, __filename, __dirname';

const aliases = {
  'assert/strict': () => require('assert').strict,
  'buffer': () => ({ Buffer: require('buffer').Buffer, atob, btoa }),
  'fs/promises': () => require('fs').promises,
  'module': () => ({
    createRequire: (file) => requireFrom(/^file:/.test(file) ? fileURLToPath(file) : String(file)),
  }),
  'path/posix': () => require('path'),
  'timers': () => require('timers').globals,
  'timers/promises': () => require('timers').promises,
};

function builtIn(name) {
  return (aliases[name] ?? (() => require(name)))();
}

function requireFrom(importer) {
  const find = (specifier) => {
    if (typeof specifier !== 'string')
      throw require('failures').wrongType('id', 'of type string', specifier);
    return resolve(importer, specifier, false);
  };
  const load = (specifier) => exportsOf(find(specifier));
  return Object.assign(load, { resolve: find, cache: {} });
}

function exportsOf(name) {
  if (name.startsWith('node:')) return builtIn(name.slice('node:'.length));
  if (loaded.has(name)) return loaded.get(name).exports;
  const text = readFileSync(name, 'utf8');
  if (name.endsWith('.json')) return json(name, text);
  const code = classify(name, text);
  if (code !== undefined) return run(name, code);
  const message = `require() of ES Module ${name} is not supported: use import`;
  throw Object.assign(new Error(message), { code: 'ERR_REQUIRE_ESM' });
}

function json(name, text) {
  const module = { exports: undefined };
  try {
    module.exports = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    error.message = `${name}: ${error.message}`;
    throw error;
  }
  loaded.set(name, module);
  return module.exports;
}

// Returns a function for a module of CommonJS, and nothing for an ES module.
function classify(name, text) {
  const type = name.endsWith('.mjs') ? 'module' : name.endsWith('.cjs') ? 'commonjs' : typeOf(name);
  if (type === 'module') return undefined;
  try {
    return native.compile(name, `(function (${parameters}) {${text.replace(/^#!/, '//')}\n})`);
  } catch (error) {
    // Its own syntax is how one tells an ES module.
    if (type === 'commonjs' || !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function run(name, code) {
  const module = { exports: {}, id: name, filename: name, loaded: false, children: [] };
  loaded.set(name, module);
  try {
    code.call(module.exports, module.exports, requireFrom(name), module, name, paths.dirname(name));
  } catch (error) {
    loaded.delete(name);
    throw error;
  }
  module.loaded = true;
  return module.exports;
}

// What the engine compiles for an import, and what it puts into its `import.meta`.
function describe(name) {
  if (!name.startsWith('node:') && !name.endsWith('.json')) {
    const text = readFileSync(name, 'utf8');
    if (!loaded.has(name) && classify(name, text) === undefined) return [text, metaOf(name)];
  }
  const value = exportsOf(name);
  const isObject = value !== null && ['object', 'function'].includes(typeof value);
  const keys = isObject
    ? Object.keys(value).filter((key) => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key))
    : [];
  const names = keys
    .filter((key) => key !== 'default')
    .map((key, i) => `const $${i} = value.${key}; export { $${i} as ${key} };`);
  return [`const { value } = import.meta; export default value; ${names.join(' ')}`, { value }];
}

function metaOf(name) {
  const url = pathToFileURL(name).href;
  const meta = {
    url,
    filename: paths.resolve(name),
    dirname: paths.dirname(paths.resolve(name)),
    main: name === native.main,
  };
  meta.resolve = (specifier) => {
    const found = resolve(name, specifier, true);
    return found.startsWith('node:') ? found : pathToFileURL(found).href;
  };
  return meta;
}

module.exports = { describe, metaOf, requireFrom };
