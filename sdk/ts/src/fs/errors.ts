import type { ErrorCode } from "wasi:filesystem/types@0.2.12";

/** The names and texts by which Node knows what can go wrong. */
const KNOWN: Partial<Record<ErrorCode, readonly [code: string, text: string]>> = {
  access: ["EACCES", "permission denied"],
  "bad-descriptor": ["EBADF", "bad file descriptor"],
  busy: ["EBUSY", "resource busy or locked"],
  "cross-device": ["EXDEV", "cross-device link not permitted"],
  exist: ["EEXIST", "file already exists"],
  "file-too-large": ["EFBIG", "file too large"],
  "illegal-byte-sequence": ["EILSEQ", "illegal byte sequence"],
  "insufficient-space": ["ENOSPC", "no space left on device"],
  invalid: ["EINVAL", "invalid argument"],
  io: ["EIO", "i/o error"],
  "is-directory": ["EISDIR", "illegal operation on a directory"],
  loop: ["ELOOP", "too many symbolic links encountered"],
  "name-too-long": ["ENAMETOOLONG", "name too long"],
  "no-entry": ["ENOENT", "no such file or directory"],
  "not-directory": ["ENOTDIR", "not a directory"],
  "not-empty": ["ENOTEMPTY", "directory not empty"],
  "not-permitted": ["EPERM", "operation not permitted"],
  quota: ["EDQUOT", "disk quota exceeded"],
  "read-only": ["EROFS", "read-only file system"],
  unsupported: ["ENOTSUP", "operation not supported"],
};

/** An operation on a file that failed; as Node's, with its `code`, `syscall` and `path`. */
export class FileError extends Error {
  override readonly name = "FileError";

  constructor(
    /** For example `ENOENT`. */
    readonly code: string,
    text: string,
    readonly syscall: string,
    readonly path: string,
  ) {
    super(`${code}: ${text}, ${syscall} '${path}'`);
  }
}

/** Runs `work`, and says of its failure what was tried. */
export function attempt<T>(syscall: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const reported = (thrown as { payload?: unknown }).payload;
    if (typeof reported !== "string") throw thrown;
    const [code, text] = KNOWN[reported as ErrorCode] ?? [reported.toUpperCase(), reported.replaceAll("-", " ")];
    throw new FileError(code, text, syscall, path);
  }
}
