import type { DescriptorType } from "wasi:filesystem/types@0.2.12";

import { attempt, FileError } from "./errors.js";
import { locate } from "./location.js";
import { Dirent, Stats } from "./stats.js";

/** What is known of a file, through links. */
export async function stat(path: string): Promise<Stats> {
  return statOf("stat", path, true);
}

/** What is known of a file or of a link itself. */
export async function lstat(path: string): Promise<Stats> {
  return statOf("lstat", path, false);
}

/** The names of what is in a folder, sorted; with `withFileTypes`, what they are too. */
export async function readdir(path: string, options?: { withFileTypes?: false }): Promise<string[]>;
export async function readdir(path: string, options: { withFileTypes: true }): Promise<Dirent[]>;
export async function readdir(path: string, options?: { withFileTypes?: boolean }): Promise<string[] | Dirent[]> {
  const found = entries(path).map(({ name, type }) => new Dirent(name, path, type));
  return options?.withFileTypes ? found : found.map(({ name }) => name);
}

/** Moves a file or a folder, over a file that is there. */
export async function rename(from: string, to: string): Promise<void> {
  const [old, new_] = [locate(from, "rename"), locate(to, "rename")];
  attempt("rename", `${from}' -> '${to}`, () => old.folder.renameAt(old.path, new_.folder, new_.path));
}

/** Makes a folder; with `recursive`, also those above it that are missing. */
export async function mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
  const { folder, path: target } = locate(path, "mkdir");
  if (!options?.recursive) return attempt("mkdir", path, () => folder.createDirectoryAt(target));
  const parts = target === "." ? [] : target.split("/");
  for (let depth = 1; depth <= parts.length; depth++) {
    const part = parts.slice(0, depth).join("/");
    try {
      attempt("mkdir", path, () => folder.createDirectoryAt(part));
    } catch (thrown) {
      if (!isFileError(thrown, "EEXIST")) throw thrown;
      const isFolder = attempt("mkdir", path, () => folder.statAt({ symlinkFollow: true }, part).type === "directory");
      if (!isFolder) throw thrown;
    }
  }
}

/**
 * Removes a file; with `recursive`, also a folder with all that is in it. With `force`, what is not
 * there is no error.
 */
export async function rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
  try {
    remove(path, options?.recursive ?? false);
  } catch (thrown) {
    if (!(options?.force && isFileError(thrown, "ENOENT"))) throw thrown;
  }
}

/** Removes an empty folder. */
export async function rmdir(path: string): Promise<void> {
  const { folder, path: target } = locate(path, "rmdir");
  attempt("rmdir", path, () => folder.removeDirectoryAt(target));
}

function remove(path: string, recursive: boolean): void {
  const { folder, path: target } = locate(path, "rm");
  if (!statOf("rm", path, false).isDirectory()) return attempt("rm", path, () => folder.unlinkFileAt(target));
  if (!recursive) throw new FileError("EISDIR", "is a directory, and `recursive` was not given", "rm", path);
  for (const { name } of entries(path)) remove(`${path}/${name}`, true);
  attempt("rm", path, () => folder.removeDirectoryAt(target));
}

function statOf(syscall: string, path: string, symlinkFollow: boolean): Stats {
  const { folder, path: target } = locate(path, syscall);
  return attempt(syscall, path, () => new Stats(folder.statAt({ symlinkFollow }, target)));
}

function entries(path: string): { name: string; type: DescriptorType }[] {
  const { folder, path: target } = locate(path, "scandir");
  const found = attempt("scandir", path, () => {
    using opened = folder.openAt({ symlinkFollow: true }, target, { directory: true }, { read: true });
    using stream = opened.readDirectory();
    const found = [];
    for (let entry = stream.readDirectoryEntry(); entry; entry = stream.readDirectoryEntry()) found.push(entry);
    return found;
  });
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function isFileError(thrown: unknown, code: string): boolean {
  return thrown instanceof FileError && thrown.code === code;
}
