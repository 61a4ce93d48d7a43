// The module `fs`, with synchronous functions; `fs_async` makes the others of them.
const { decode, encode, bytesOf } = require('encoding');
const { view } = require('buffer');
const { done, wrongType } = require('failures');
const { Dirent, Stats } = require('entries');
const paths = require('path');

const { files } = native;

function pathOf(path, name = 'path') {
  let text = path;
  if (path instanceof Uint8Array) text = decode(path);
  else if (path?.protocol === 'file:') text = decodeURIComponent(path.pathname);
  if (typeof text !== 'string')
    throw wrongType(name, 'of type string or an instance of Buffer or URL', path);
  if (!text.includes('\0')) return text.toWellFormed();
  const error = new TypeError(
    `The argument '${name}' must be a string, Uint8Array, or URL without null bytes`,
  );
  error.code = 'ERR_INVALID_ARG_VALUE';
  throw error;
}

function optionsOf(options) {
  return typeof options === 'string' ? { encoding: options } : (options ?? {});
}

function readFileSync(path, options) {
  const file = pathOf(path);
  const { encoding } = optionsOf(options);
  if (/^utf-?8$/i.test(encoding)) return done(files.readText(file), 'open', file);
  const buffer = view(done(files.read(file), 'open', file));
  return encoding == null || encoding === 'buffer' ? buffer : buffer.toString(encoding);
}

function write(path, data, options, usual) {
  const file = pathOf(path);
  const { encoding = 'utf8', flag = usual } = optionsOf(options);
  if (typeof data === 'string') {
    if (/^utf-?8$/i.test(encoding ?? 'utf8'))
      return done(files.writeText(file, flag, data.toWellFormed()), 'open', file);
    return done(files.writeHex(file, flag, encode(data, encoding).toHex()), 'open', file);
  }
  if (!ArrayBuffer.isView(data)) {
    throw wrongType(
      'data',
      'of type string or an instance of Buffer, TypedArray, or DataView',
      data,
    );
  }
  return done(files.writeHex(file, flag, bytesOf(data).toHex()), 'open', file);
}

const writeFileSync = (path, data, options) => write(path, data, options, 'w');
const appendFileSync = (path, data, options) => write(path, data, options, 'a');

function existsSync(path) {
  try {
    return files.stat(pathOf(path), true).code === undefined;
  } catch {
    return false;
  }
}

function accessSync(path) {
  const file = pathOf(path);
  done(files.stat(file, true), 'access', file);
}

function look(path, options, follows, syscall) {
  const file = pathOf(path);
  const found = files.stat(file, follows);
  if (found.code === 'ENOENT' && options?.throwIfNoEntry === false) return undefined;
  return new Stats(done(found, syscall, file));
}

const statSync = (path, options) => look(path, options, true, 'stat');
const lstatSync = (path, options) => look(path, options, false, 'lstat');

function readdirSync(path, options) {
  const folder = pathOf(path);
  const { recursive = false, withFileTypes = false } = optionsOf(options);
  const entries = list(folder, folder, '', recursive);
  return withFileTypes ? entries : entries.map((entry) => entry.within);
}

function list(folder, parent, within, isRecursive) {
  const found = done(files.list(parent), 'scandir', parent);
  const entries = [];
  for (let i = 0; i < found.length; i += 2) {
    const entry = new Dirent(found[i], parent, found[i + 1], within + found[i]);
    entries.push(entry);
    if (isRecursive && entry.isDirectory()) {
      entries.push(...list(folder, paths.join(parent, entry.name), `${entry.within}/`, true));
    }
  }
  return entries;
}

function mkdirSync(path, options) {
  const folder = pathOf(path);
  if (options === null || typeof options !== 'object' || !options.recursive) {
    done(files.mkdir(folder), 'mkdir', folder);
    return undefined;
  }
  let first;
  for (let at = folder; !existsSync(at); at = paths.dirname(at)) first = at;
  done(files.mkdirs(folder), 'mkdir', folder);
  return first === undefined ? undefined : paths.resolve(first);
}

function rmSync(path, { recursive = false, force = false } = {}) {
  const file = pathOf(path);
  const found = files.stat(file, false);
  if (found.code === 'ENOENT' && force) return;
  done(found, 'rm', file);
  if (!new Stats(found).isDirectory()) return void done(files.unlink(file), 'rm', file);
  if (recursive) return void done(files.rmtree(file), 'rm', file);
  const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${file}`);
  throw Object.assign(error, { code: 'ERR_FS_EISDIR', errno: 21, syscall: 'rm', path: file });
}

function rmdirSync(path, options) {
  if (options?.recursive) return rmSync(path, { recursive: true });
  const folder = pathOf(path);
  return void done(files.rmdir(folder), 'rmdir', folder);
}

function unlinkSync(path) {
  const file = pathOf(path);
  done(files.unlink(file), 'unlink', file);
}

function renameSync(from, to) {
  const [start, end] = [pathOf(from, 'oldPath'), pathOf(to, 'newPath')];
  done(files.rename(start, end), 'rename', start, end);
}

const constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1 };

function copyFileSync(from, to, mode = 0) {
  const [start, end] = [pathOf(from, 'src'), pathOf(to, 'dest')];
  if (mode & constants.COPYFILE_EXCL && existsSync(end)) {
    done({ code: 'EEXIST', errno: -17, text: 'file already exists' }, 'copyfile', start, end);
  }
  done(files.copy(start, end), 'copyfile', start, end);
}

function cpSync(from, to, options = {}) {
  const [start, end] = [pathOf(from, 'src'), pathOf(to, 'dest')];
  const { recursive = false, force = true, errorOnExist = false, filter = () => true } = options;
  if (!filter(start, end)) return;
  const found = new Stats(done(files.stat(start, false), 'cp', start));
  if (found.isDirectory()) {
    if (!recursive)
      throw coded(
        'ERR_FS_EISDIR',
        `Recursive option not enabled, cannot copy a directory: ${start}`,
      );
    if (`${paths.resolve(end)}/`.startsWith(`${paths.resolve(start)}/`)) {
      throw coded('ERR_FS_CP_EINVAL', `Cannot copy ${start} to a subdirectory of self ${end}`);
    }
    mkdirSync(end, { recursive: true });
    for (const name of readdirSync(start))
      cpSync(paths.join(start, name), paths.join(end, name), options);
    return;
  }
  if (existsSync(end)) {
    if (!force && errorOnExist) throw coded('ERR_FS_CP_EEXIST', `Target already exists: ${end}`);
    if (!force) return;
  }
  mkdirSync(paths.dirname(end), { recursive: true });
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(start), end);
  else copyFileSync(start, end);
}

function coded(code, message) {
  return Object.assign(new Error(message), { code });
}

function readlinkSync(path) {
  const link = pathOf(path);
  return done(files.readlink(link), 'readlink', link)[0];
}

function symlinkSync(target, path) {
  const [to, link] = [pathOf(target, 'target'), pathOf(path)];
  done(files.symlink(to, link), 'symlink', to, link);
}

function realpathSync(path) {
  const file = pathOf(path);
  done(files.stat(file, true), 'realpath', file);
  return paths.resolve(file);
}

function truncateSync(path, length = 0) {
  const bytes = readFileSync(path);
  const kept = new Uint8Array(length);
  kept.set(bytes.subarray(0, length));
  writeFileSync(path, kept);
}

function mkdtempSync(prefix) {
  const folder = `${pathOf(prefix, 'prefix')}${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}`;
  mkdirSync(folder);
  return folder;
}

function globSync(patterns, { cwd = '.', exclude, withFileTypes = false } = {}) {
  const { toRegExp } = require('pattern');
  const wanted = [patterns].flat().map(toRegExp);
  const unwanted = Array.isArray(exclude) ? exclude.map(toRegExp) : [];
  const isExcluded =
    typeof exclude === 'function'
      ? (entry) => exclude(withFileTypes ? entry : entry.within)
      : () => false;
  const found = list(cwd, cwd, '', true).filter(
    (entry) =>
      wanted.some((pattern) => pattern.test(entry.within)) &&
      !unwanted.some((pattern) => pattern.test(entry.within)) &&
      !isExcluded(entry),
  );
  return withFileTypes ? found : found.map((entry) => entry.within);
}

const fs = {
  accessSync,
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
};
Object.assign(fs, { constants, Dirent, Stats }, require('fs_async').from(fs));
module.exports = fs;
