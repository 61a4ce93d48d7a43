import { FileError } from "./errors.js";

/** Where relative paths start. */
const WORKSPACE = "/workspace";

/**
 * An absolute path without `.`, `..` and doubled slashes. It is not resolved through links.
 * @throws {FileError} for what is no path
 */
export function absolute(path: string, syscall: string): string {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new FileError("EINVAL", "a path is a string, not empty and without a zero byte", syscall, String(path));
  }
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${WORKSPACE}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** The part of `path` below `folder`; none where it is elsewhere. */
export function below(folder: string, path: string): string | undefined {
  if (path === folder) return ".";
  const prefix = folder === "/" ? folder : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}
