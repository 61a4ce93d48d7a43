import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";

import { fail } from "./problem.js";

export interface Project {
  /** Absolute. */
  readonly folder: string;
  readonly name: string;
  readonly version: string | undefined;
  /** Absolute: the module whose default export is the factory. */
  readonly entry: string;
  readonly typed: boolean;
  readonly tsconfig: string | undefined;
}

const ENTRIES = ["src/tool.ts", "src/tool.mts", "src/tool.cts", "src/tool.js", "src/tool.mjs", "src/tool.cjs"];

export function readProject(folder: string, entry: string | undefined): Project {
  const root = resolve(folder);
  if (!existsSync(root) || !statSync(root).isDirectory()) fail({ stage: "project", message: `there is no folder ${root}`, help: "name the folder of a project" });
  const manifest = readManifest(root);
  const found = findEntry(root, entry);
  const tsconfig = join(root, "tsconfig.json");
  return {
    folder: root,
    name: (manifest.name ?? basename(root)).replace(/^@[^/]*\//, ""),
    version: manifest.version,
    entry: found,
    typed: /^\.[cm]?tsx?$/.test(extname(found)),
    tsconfig: existsSync(tsconfig) ? tsconfig : undefined,
  };
}

function findEntry(root: string, named: string | undefined): string {
  if (named !== undefined) {
    const path = resolve(root, named);
    return existsSync(path) ? path : fail({ stage: "project", message: `there is no file ${named} in ${root}` });
  }
  const found = ENTRIES.map((path) => join(root, path)).find((path) => existsSync(path));
  return found ?? fail({ stage: "project", message: `${root} has none of ${ENTRIES.join(", ")}`, help: "write the tool there, or name its module with --entry" });
}

function readManifest(root: string): { name?: string; version?: string } {
  const path = join(root, "package.json");
  if (!existsSync(path)) return {};
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (thrown) {
    return fail({ stage: "project", file: "package.json", message: (thrown as Error).message });
  }
  const { name, version } = (manifest ?? {}) as Record<string, unknown>;
  return { ...(typeof name === "string" && { name }), ...(typeof version === "string" && { version }) };
}
