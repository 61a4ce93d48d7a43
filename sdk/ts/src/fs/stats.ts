/** Not WASI's own declarations, which no project has. */
type FileType = "regular-file" | "directory" | "symbolic-link" | (string & {});

interface Described {
  readonly type: FileType;
  readonly size: bigint;
  readonly dataModificationTimestamp?: { readonly seconds: bigint; readonly nanoseconds: number };
}

class Kind {
  readonly #type: FileType;

  constructor(type: FileType) {
    this.#type = type;
  }

  isFile(): boolean {
    return this.#type === "regular-file";
  }

  isDirectory(): boolean {
    return this.#type === "directory";
  }

  isSymbolicLink(): boolean {
    return this.#type === "symbolic-link";
  }
}

/** What is known of a file. */
export class Stats extends Kind {
  /** In bytes. */
  readonly size: number;
  /** When its contents last changed, in milliseconds since 1970; 0 where the host doesn't tell. */
  readonly mtimeMs: number;

  constructor(stat: Described) {
    super(stat.type);
    const changed = stat.dataModificationTimestamp;
    this.size = Number(stat.size);
    this.mtimeMs = changed ? Number(changed.seconds) * 1000 + changed.nanoseconds / 1e6 : 0;
  }

  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
}

/** An entry of a folder. */
export class Dirent extends Kind {
  constructor(
    readonly name: string,
    /** The folder that it is in, as it was given to `readdir`. */
    readonly parentPath: string,
    type: FileType,
  ) {
    super(type);
  }
}
