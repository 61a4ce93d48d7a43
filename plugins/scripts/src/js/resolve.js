// Finds the module that an import means.
const { asPath, inFolder } = require('packages');
const paths = require('path');

// In the order in which messages name them.
const builtIn = [
  'assert',
  'assert/strict',
  'buffer',
  'console',
  'fs',
  'fs/promises',
  'module',
  'os',
  'path',
  'path/posix',
  'process',
  'timers',
  'timers/promises',
  'url',
  'util',
];

function resolve(importer, specifier, isImport) {
  const name = specifier.replace(/^node:/, '');
  if (builtIn.includes(name)) return `node:${name}`;
  if (specifier.startsWith('node:')) {
    const message = `No such built-in module: ${specifier}. ${listed()}`;
    throw Object.assign(new Error(message), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' });
  }
  const folder = paths.dirname(importer);
  if (specifier.startsWith('file://'))
    return byPath(require('url').fileURLToPath(specifier), importer, specifier, isImport);
  if (specifier.startsWith('/')) return byPath(specifier, importer, specifier, isImport);
  if (/^\.\.?(\/|$)/.test(specifier))
    return byPath(paths.join(folder, specifier), importer, specifier, isImport);
  return byName(folder, importer, specifier, isImport);
}

function byPath(path, importer, specifier, isImport) {
  const found = asPath(path, isImport);
  if (found !== undefined) return found;
  throw missing(`Cannot find module '${specifier}' imported from ${importer}: there is no ${path}`);
}

function byName(folder, importer, specifier, isImport) {
  const folders = foldersAbove(folder);
  for (const modules of folders) {
    const found = inFolder(modules, specifier, isImport);
    if (found !== undefined) return found;
  }
  const looked = `It was looked for in ${folders.join(', ')}.`;
  throw missing(
    `Cannot find package '${specifier}' imported from ${importer}. ${looked} ${listed()}`,
  );
}

function foldersAbove(folder) {
  const folders = [];
  for (let at = folder; ; at = paths.dirname(at)) {
    if (paths.basename(at) !== 'node_modules') folders.push(paths.join(at, 'node_modules'));
    if (at === paths.dirname(at)) break;
  }
  return [...new Set([...folders, 'node_modules', native.modules])];
}

function listed() {
  return `Built-in modules: ${builtIn.join(', ')}.`;
}

function missing(message) {
  return Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
}

module.exports = { builtIn, resolve };
