// What `fs` says of files and of the entries of directories.
const kinds = { file: 'isFile', directory: 'isDirectory', link: 'isSymbolicLink' };
const types = { file: 0o100644, directory: 0o040755, link: 0o120777 };

class Kind {
  #kind;

  constructor(kind) {
    this.#kind = kind;
  }

  static {
    for (const [kind, method] of Object.entries(kinds)) {
      const value = function () {
        return this.#kind === kind;
      };
      Object.defineProperty(this.prototype, method, { value, writable: true, configurable: true });
    }
    for (const method of ['isFIFO', 'isSocket', 'isBlockDevice', 'isCharacterDevice']) {
      Object.defineProperty(this.prototype, method, {
        value: () => false,
        writable: true,
        configurable: true,
      });
    }
  }
}

class Stats extends Kind {
  constructor({ kind, size, modified, accessed, created }) {
    super(kind);
    // WASI tells of no rights and owners: these are the usual ones.
    Object.assign(this, { dev: 0, mode: types[kind] ?? 0, nlink: 1, uid: 0, gid: 0, ino: 0, size });
    Object.assign(this, { blksize: 4096, blocks: Math.ceil(size / 512) });
    const times = { atime: accessed, mtime: modified, ctime: modified, birthtime: created };
    for (const [name, time] of Object.entries(times)) this[`${name}Ms`] = time;
    for (const [name, time] of Object.entries(times)) this[name] = new Date(time);
  }
}

class Dirent extends Kind {
  constructor(name, parentPath, kind, within) {
    super(kind);
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    Object.defineProperty(this, 'within', { value: within });
  }
}

module.exports = { Dirent, Stats };
