// Runs the program `airlock` on components that are built here, each with a workspace and a store
// of its own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const sdk = process.cwd();
const root = resolve(sdk, "../..");
const target = resolve(process.env.CARGO_TARGET_DIR ?? join(root, "target"));
export const airlock = process.env.AIRLOCK ?? join(target, "ci/airlock");

/** The engines beside the default one. It takes minutes to build for them: `AIRLOCK_ENGINES=all` does, as `tests/everything` sets it. */
export const otherEngines = process.env.AIRLOCK_ENGINES === "all" ? ["starlingmonkey"] : [];

/** What `airlock run --json` says. */
export interface Outcome {
  status: number | null;
  /** The log. */
  said: string;
  content?: { type: string; text?: string }[];
  details?: any;
  error?: { message: string; kind: string };
  pending?: { label: string; durable: boolean }[];
  resolved?: { content: { text?: string }[]; details: any; isError: boolean } | null;
}

const built = new Set<string>();

/** The component of a module in `test/tools`. */
export function component(what: { entry: string }, ...options: string[]): string {
  const out = join(sdk, "target/components", `${[what.entry.replace(/\.[jt]s$/, ""), ...options].join("")}.wasm`);
  build(out, process.execPath, join(sdk, "dist/build/main.js"), "build", join(sdk, "test/tools"), "--entry", what.entry, "--out", out, ...options);
  return out;
}

/**
 * The component of a folder of the examples, where `tests/build-guests` puts it too: what that has
 * built is not built again.
 */
export function example(name: string): string {
  const out = join(target, "guests/ts", `${name}.wasm`);
  build(out, join(root, "tests/toolchain/build-node-tool"), join(root, "examples/ts", name), out);
  return out;
}

/** Runs the command that makes a component, once. */
function build(out: string, command: string, ...args: string[]): void {
  if (built.has(out)) return;
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  built.add(out);
}

/** A folder with files, given as `path: contents`. */
export function workspace(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "airlock-ts-workspace-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), contents);
  }
  return folder;
}

/** Calls a tool, and decides at once where `options` say so. */
export function run(plugin: string, tool: string, params: unknown, folder: string, ...options: string[]): Outcome {
  assert(existsSync(airlock), `${airlock} is not there: run tests/run`);
  const state = join(folder, "..", `${folder.split("/").at(-1)}.state`);
  process.on("exit", () => rmSync(state, { recursive: true, force: true }));
  const { status, stdout, stderr } = spawnSync(airlock, ["run", plugin, tool, JSON.stringify(params), "--workspace", folder, "--json", ...options], {
    encoding: "utf8",
    env: { ...process.env, XDG_STATE_HOME: state, AIRLOCK_STORE: "" },
  });
  const json = stdout.trim() ? JSON.parse(stdout) : {};
  return { status, said: stderr, ...json };
}
