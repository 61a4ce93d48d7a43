import { basename, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import type { Lines } from "../guest/places.js";
import { decode, encode } from "../vendor/sourcemap.js";
import type { EngineName } from "./bundle.js";
import type { Project } from "./project.js";

/** What messages call the module that the build adds. */
export const ENTRY = "airlock-entry.js";

/** Where the SDK's own modules are. */
const SDK = fileURLToPath(new URL("..", import.meta.url));

/**
 * Stands in the bundle where its own table of lines will be, behind all that the table tells of.
 */
export const PLACEHOLDER = "@airlock-lines@";

/** The bundle with the table in it. */
export function withLines(code: string, lines: Lines): string {
  // A function, since `$` would mean something in a text.
  return code.replace(JSON.stringify(PLACEHOLDER), () => JSON.stringify(lines));
}

/** A source map reduced to what places in the project's own sources need. */
export function linesOf(code: string, map: string, project: Project, engine: EngineName): Lines {
  const { sources, mappings } = JSON.parse(map) as { sources: string[]; mappings: string };
  const own: string[] = [];
  const indexes = sources.map((source) => {
    const path = resolve(project.folder, source);
    const isOwn = basename(source) !== ENTRY && !path.includes(`${sep}node_modules${sep}`) && !path.startsWith(SDK);
    return isOwn ? own.push(relative(project.folder, path).split(sep).join("/")) - 1 : undefined;
  });
  const text = code.split("\n");
  const reduced = decode(mappings).map((segments, number) => {
    const columnOf = columns(text[number] ?? "", engine);
    let last: string | undefined;
    const kept: ([number] | [number, number, number, number])[] = [];
    for (const [column, source, line] of segments) {
      const index = source === undefined ? undefined : indexes[source];
      const place = index === undefined ? "" : `${index}:${line}`;
      // Positions in a line only ever go up, so each is asked for.
      const at = columnOf(column);
      if (place === (last ?? "")) continue;
      kept.push(index === undefined ? [at] : [at, index, line ?? 0, 0]);
      last = place;
    }
    return kept;
  });
  return { sources: own, mappings: encode(reduced) };
}

/** Columns as the engine counts them: QuickJS does so in bytes of UTF-8. */
function columns(line: string, engine: EngineName): (column: number) => number {
  if (engine !== "quickjs") return (column) => column;
  let [seen, bytes] = [0, 0];
  return (column) => {
    bytes += Buffer.byteLength(line.slice(seen, column));
    seen = column;
    return bytes;
  };
}
