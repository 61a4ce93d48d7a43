import type { Descriptor, DescriptorFlags, OpenFlags } from "wasi:filesystem/types@0.2.12";

import { decodeUtf8, encodeUtf8 } from "../guest/utf8.js";
import { attempt, FileError } from "./errors.js";
import { locate } from "./location.js";

declare const AIRLOCK_ENGINE: "quickjs" | "starlingmonkey";

/** As much as is read or written at a time, in bytes. */
const CHUNK = 256 * 1024;

export type TextEncoding = "utf8" | "utf-8";

/** The whole contents of a file: its bytes, or with an encoding its text. */
export async function readFile(path: string): Promise<Uint8Array>;
export async function readFile(path: string, encoding: TextEncoding | { encoding: TextEncoding }): Promise<string>;
export async function readFile(path: string, options?: TextEncoding | { encoding: TextEncoding }): Promise<Uint8Array | string> {
  const encoding = typeof options === "object" ? options.encoding : options;
  if (encoding !== undefined && encoding !== "utf8" && encoding !== "utf-8") throw new TypeError(`the encoding ${String(encoding)} is not supported; use "utf8"`);
  const bytes = opened("open", path, {}, { read: true }, (file) => {
    // Reading one would be answered with a word that says less.
    if (file.stat().type === "directory") throw new FileError("EISDIR", "illegal operation on a directory", "read", path);
    return readAll(file);
  });
  return encoding === undefined ? bytes : decodeUtf8(bytes);
}

/** Writes a file anew. Text becomes UTF-8. */
export async function writeFile(path: string, contents: string | Uint8Array): Promise<void> {
  const bytes = bytesOf(contents);
  opened("open", path, { create: true, truncate: true }, { write: true }, (file) => writeAll(file, bytes, 0));
}

/** Adds to the end of a file, and makes it where there is none. */
export async function appendFile(path: string, contents: string | Uint8Array): Promise<void> {
  const bytes = bytesOf(contents);
  opened("open", path, { create: true }, { write: true }, (file) => writeAll(file, bytes, Number(file.stat().size)));
}

/** Copies a file over another. */
export async function copyFile(from: string, to: string): Promise<void> {
  await writeFile(to, await readFile(from));
}

function opened<T>(syscall: string, path: string, how: OpenFlags, rights: DescriptorFlags, use: (file: Descriptor) => T): T {
  const at = locate(path, syscall);
  return attempt(syscall, path, () => {
    using file = at.folder.openAt({ symlinkFollow: true }, at.path, how, rights);
    return use(file);
  });
}

function readAll(file: Descriptor): Uint8Array {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let end = false; !end; ) {
    const [chunk, atEnd] = file.read(u64(CHUNK), u64(length));
    chunks.push(chunk);
    length += chunk.length;
    end = atEnd || chunk.length === 0;
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function writeAll(file: Descriptor, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += Number(file.write(bytes.subarray(done, done + CHUNK), u64(offset + done)));
  }
}

function bytesOf(contents: string | Uint8Array): Uint8Array {
  if (typeof contents === "string") return encodeUtf8(contents);
  if (contents instanceof Uint8Array) return contents;
  throw new TypeError("the contents of a file are a string or a Uint8Array");
}

/** QuickJS passes 64-bit integers as numbers, StarlingMonkey as what the declarations say. */
function u64(value: number): bigint {
  return AIRLOCK_ENGINE === "quickjs" ? (value as unknown as bigint) : BigInt(value);
}
