// Looks into packages: which file one means by its name, or by a name below its own.
const { existsSync, readFileSync, statSync } = require('fs');
const paths = require('path');

const endings = ['', '.js', '.mjs', '.cjs', '.json'];
const indices = ['index.js', 'index.mjs', 'index.cjs', 'index.json'];

const isKind = (path, kind) => statSync(path, { throwIfNoEntry: false })?.[kind]() === true;

function look(path, kind) {
  try {
    return isKind(path, kind);
  } catch {
    return false;
  }
}

const isFile = (path) => look(path, 'isFile');
const isFolder = (path) => look(path, 'isDirectory');

function manifestIn(folder) {
  const path = paths.join(folder, 'package.json');
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw Object.assign(new Error(`Invalid package config ${path}: ${error.message}`), {
      code: 'ERR_INVALID_PACKAGE_CONFIG',
    });
  }
}

function asFile(path) {
  const found = endings.find((ending) => isFile(path + ending));
  return found === undefined ? undefined : path + found;
}

function asFolder(folder, isImport) {
  if (!isFolder(folder)) return undefined;
  const manifest = manifestIn(folder);
  const entries = isImport ? [manifest?.module, manifest?.main] : [manifest?.main];
  for (const entry of entries) {
    if (typeof entry !== 'string') continue;
    const path = paths.join(folder, entry);
    const found = asFile(path) ?? indices.map((index) => paths.join(path, index)).find(isFile);
    if (found !== undefined) return found;
  }
  return indices.map((index) => paths.join(folder, index)).find(isFile);
}

const asPath = (path, isImport) =>
  (path.endsWith('/') ? undefined : asFile(path)) ?? asFolder(path, isImport);

function inFolder(folder, specifier, isImport) {
  const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const root = paths.join(folder, name);
  const manifest = isFolder(root) ? manifestIn(root) : undefined;
  if (manifest?.exports === undefined || manifest.exports === null)
    return asPath(paths.join(folder, specifier), isImport);
  const conditions = isImport ? ['import', 'node', 'default'] : ['require', 'node', 'default'];
  const wanted = rest === undefined ? '.' : `./${rest}`;
  const target = exported(manifest.exports, wanted, conditions);
  if (target !== undefined) return asFile(paths.join(root, target));
  const message = `Package subpath '${wanted}' is not defined by "exports" in ${paths.join(root, 'package.json')}`;
  throw Object.assign(new Error(message), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
}

function exported(exports, wanted, conditions) {
  const isMap =
    typeof exports === 'object' &&
    !Array.isArray(exports) &&
    Object.keys(exports).some((key) => key.startsWith('.'));
  if (!isMap) return wanted === '.' ? chosen(exports, conditions) : undefined;
  if (Object.hasOwn(exports, wanted)) return chosen(exports[wanted], conditions);
  for (const [key, target] of Object.entries(exports)) {
    const [start, end, ...others] = key.split('*');
    const isPattern = end !== undefined && others.length === 0;
    if (
      !isPattern ||
      !wanted.startsWith(start) ||
      !wanted.endsWith(end) ||
      wanted.length < key.length
    )
      continue;
    const between = wanted.slice(start.length, wanted.length - end.length);
    return chosen(target, conditions)?.replaceAll('*', () => between);
  }
  return undefined;
}

function chosen(target, conditions) {
  if (typeof target === 'string') return target;
  if (Array.isArray(target))
    return target.map((one) => chosen(one, conditions)).find((one) => one !== undefined);
  if (target === null || typeof target !== 'object') return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    const found = conditions.includes(condition) ? chosen(inner, conditions) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

// What the nearest package says of its files.
function typeOf(path) {
  for (let folder = paths.dirname(path); ; folder = paths.dirname(folder)) {
    const type = manifestIn(folder)?.type;
    if (type !== undefined) return type;
    if (folder === paths.dirname(folder) || paths.basename(folder) === 'node_modules')
      return undefined;
  }
}

module.exports = { asPath, inFolder, typeOf };
