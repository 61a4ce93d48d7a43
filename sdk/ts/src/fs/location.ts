import { getDirectories } from "wasi:filesystem/preopens@0.2.12";
import type { Descriptor } from "wasi:filesystem/types@0.2.12";

import { requireStarted } from "../guest/lifecycle.js";
import { FileError } from "./errors.js";
import { absolute, below } from "./path.js";

/** A path as the host takes it: relative to one of the folders that it opened for the plugin. */
export interface Location {
  readonly folder: Descriptor;
  readonly path: string;
}

let folders: [Descriptor, string][] | undefined;

/** @throws {FileError} where no folder of the plugin's has that path */
export function locate(given: string, syscall: string): Location {
  requireStarted("airlock-tool/fs");
  const path = absolute(given, syscall);
  // `/` comes last, and stands for the workspace where a C library asks: here, relative paths are
  // resolved already.
  folders ??= getDirectories().filter(([, at]) => at !== "/" && at !== ".");
  for (const [folder, at] of folders) {
    const rest = below(at, path);
    if (rest !== undefined) return { folder, path: rest };
  }
  const known = folders.map(([, at]) => at).join(" and ") || "none";
  throw new FileError("ENOENT", `outside of the plugin's folders (${known})`, syscall, given);
}
