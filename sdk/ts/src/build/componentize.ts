import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { EngineName } from "./bundle.js";
import { fail } from "./problem.js";

const WIT = fileURLToPath(new URL("../../wit", import.meta.url));
const WORLD = "guest";

/** A component of the world, with an engine and the module `source` in it. */
export async function componentize(source: string, engine: EngineName, small: boolean): Promise<Uint8Array> {
  try {
    return await (engine === "quickjs" ? withQuickJs(source, small) : withStarlingMonkey(source));
  } catch (thrown) {
    return fail({ stage: "component", message: reason(thrown) });
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

/** The part of an engine's message that is about the program. */
function reason(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return message.replace(/^: /, "").trim();
}
