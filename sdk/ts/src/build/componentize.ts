import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { placesOf, provideLines } from "../guest/places.js";
import type { Bundle, EngineName } from "./bundle.js";
import { fail, type Problem } from "./problem.js";

const WIT = fileURLToPath(new URL("../../wit", import.meta.url));
const WORLD = "guest";

/** A component of the world, with an engine and the bundle in it. */
export async function componentize({ source, lines }: Bundle, engine: EngineName, small: boolean): Promise<Uint8Array> {
  try {
    return await (engine === "quickjs" ? withQuickJs(source, small) : withStarlingMonkey(source));
  } catch (thrown) {
    provideLines(lines);
    return fail(problemOf(thrown));
  }
}

async function withQuickJs(source: string, small: boolean): Promise<Uint8Array> {
  const { componentize } = await import("componentize-qjs");
  const { component } = await componentize({ witPath: WIT, world: WORLD, jsSource: source, sync: true, optSize: small });
  return component;
}

async function withStarlingMonkey(source: string): Promise<Uint8Array> {
  let componentizeJs: typeof import("@bytecodealliance/componentize-js");
  try {
    componentizeJs = await import("@bytecodealliance/componentize-js");
  } catch {
    return fail({ stage: "component", message: "the engine starlingmonkey is not installed", help: "npm install --save-dev @bytecodealliance/componentize-js" });
  }
  const folder = mkdtempSync(join(tmpdir(), "airlock-ts-"));
  try {
    const sourcePath = join(folder, "tool.js");
    writeFileSync(sourcePath, source);
    const { component } = await componentizeJs.componentize({ sourcePath, witPath: WIT, worldName: WORLD, disableFeatures: ["http", "fetch-event"] });
    return component;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function problemOf(thrown: unknown): Problem {
  const said = (thrown instanceof Error ? thrown.message : String(thrown)).replace(/^: /, "").trim();
  const place = placesOf(said).find((found) => found !== undefined);
  if (place === undefined) return { stage: "component", message: said };
  // Behind what the engine was doing, and before the stack.
  const message = said.replace(/^(?:Failed to [^:]*: )+/, "").replace(/\n\s+at [^]*$/, "");
  const [, file, line] = /^(.*):(\d+)$/.exec(place) ?? [];
  return {
    stage: "component",
    message,
    ...(file !== undefined && { file }),
    line: Number(line),
    help: "the top of a module runs once, when the component is built: code that may fail belongs in the factory or in a tool",
  };
}
