// The module `path`, for POSIX.
function checked(path, name = 'path') {
  if (typeof path === 'string') return path;
  const error = new TypeError(
    `The "${name}" argument must be of type string. Received ${path === null ? 'null' : typeof path}`,
  );
  error.code = 'ERR_INVALID_ARG_TYPE';
  throw error;
}

function normalizeParts(path, isAbsolute) {
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isAbsolute) parts.push('..');
  }
  return parts.join('/');
}

function normalize(path) {
  checked(path);
  if (path === '') return '.';
  const isAbsolute = path.startsWith('/');
  const parts = normalizeParts(path, isAbsolute);
  const end = path.endsWith('/') ? '/' : '';
  if (parts === '') return isAbsolute ? '/' : `.${end}`;
  return `${isAbsolute ? '/' : ''}${parts}${end}`;
}

function join(...paths) {
  const given = paths.map((path) => checked(path)).filter((path) => path !== '');
  return given.length === 0 ? '.' : normalize(given.join('/'));
}

function resolve(...paths) {
  let resolved = '';
  for (const path of [native.cwd(), ...paths].reverse()) {
    if (checked(path) === '') continue;
    resolved = resolved === '' ? path : `${path}/${resolved}`;
    if (path.startsWith('/')) break;
  }
  return `/${normalizeParts(resolved, true)}`;
}

function relative(from, to) {
  const start = resolve(checked(from, 'from')).split('/').filter(Boolean);
  const end = resolve(checked(to, 'to')).split('/').filter(Boolean);
  let common = 0;
  while (common < start.length && common < end.length && start[common] === end[common]) common++;
  return [...start.slice(common).map(() => '..'), ...end.slice(common)].join('/');
}

function withoutEnd(path) {
  return path.length > 1 ? path.replace(/(?!^)\/+$/, '') : path;
}

function dirname(path) {
  if (checked(path) === '') return '.';
  const trimmed = withoutEnd(path);
  const slash = trimmed.lastIndexOf('/');
  if (slash < 0) return '.';
  return slash === 0 ? '/' : withoutEnd(trimmed.slice(0, slash));
}

function basename(path, suffix) {
  const trimmed = withoutEnd(checked(path));
  const base = trimmed.slice(trimmed.lastIndexOf('/') + 1);
  if (suffix === undefined || !base.endsWith(checked(suffix, 'suffix')) || base === suffix)
    return base;
  return base.slice(0, base.length - suffix.length);
}

function extname(path) {
  const base = basename(path);
  const dot = base.lastIndexOf('.');
  return dot <= 0 || base === '..' ? '' : base.slice(dot);
}

function parse(path) {
  const root = checked(path).startsWith('/') ? '/' : '';
  const base = basename(path);
  const ext = extname(path);
  const dir = path === root || !path.includes('/') ? root : dirname(path);
  return { root, dir, base, ext, name: base.slice(0, base.length - ext.length) };
}

function format({ dir, root = '', base, name = '', ext = '' }) {
  const last = base ?? `${name}${ext === '' || ext.startsWith('.') ? ext : `.${ext}`}`;
  const folder = dir ?? root;
  if (folder === '') return last;
  return folder === root ? `${folder}${last}` : `${folder}/${last}`;
}

function matchesGlob(path, pattern) {
  return require('pattern').toRegExp(checked(pattern, 'pattern')).test(normalize(path));
}

const posix = {
  basename,
  delimiter: ':',
  dirname,
  extname,
  format,
  isAbsolute: (path) => checked(path).startsWith('/'),
  join,
  matchesGlob,
  normalize,
  parse,
  relative,
  resolve,
  sep: '/',
  toNamespacedPath: (path) => path,
};
posix.posix = posix;
module.exports = posix;
