/**
 * Files of the workspace, by the names that Node's `fs/promises` has, and `glob`. Relative paths are the
 * workspace's.
 */
export { appendFile, copyFile, readFile, writeFile, type TextEncoding } from "./contents.js";
export { FileError } from "./errors.js";
export { glob, matchesGlob } from "./glob.js";
export { Dirent, Stats } from "./stats.js";
export { lstat, mkdir, readdir, rename, rm, rmdir, stat } from "./tree.js";
