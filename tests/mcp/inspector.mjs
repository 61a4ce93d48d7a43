// One conversation with `airlock serve`, by the inspector's command line and in each era of the protocol.
//
// Each of its commands starts a server of its own, so those of one conversation have a session's name in common.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const airlock = process.env.AIRLOCK;
const inspector = command("@modelcontextprotocol/inspector", "mcp-inspector");
const rename = { files: ["*.jpeg"], find: "jpeg$", replace: "jpg" };

/** What it exits with where a tool's result is an error. */
const TOOL_ERROR = 5;

/** The file of a package's command. */
function command(name, bin) {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin[bin]);
}

function inspects(era) {
  const folder = mkdtempSync(join(tmpdir(), "airlock-mcp-"));
  const cwd = join(folder, "photos");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.jpeg"), "a");
  // What it keeps of its own lies at home. It hands the server little of the environment but what it is told to.
  const env = { ...process.env, HOME: folder };
  const handed = [`AIRLOCK_STORE=${join(folder, "pending.db")}`, `XDG_STATE_HOME=${process.env.XDG_STATE_HOME}`];
  const names = () => readdirSync(cwd).filter((name) => name.startsWith("a."));

  /** The result of a method, and what the inspector exits with. */
  const ask = (method, server, ...options) => {
    const asking = ["--cli", "--protocol-era", era, "--format", "json", "--quiet", "--cwd", cwd, "--method", method, ...options];
    asking.push(...handed.flatMap((variable) => ["-e", variable]));
    const serving = ["--", airlock, "serve", "--session", "inspected", ...server];
    const asked = spawnSync(process.execPath, [inspector, ...asking, ...serving], { env, encoding: "utf8" });
    assert.ok(asked.stdout, asked.stderr);
    return { status: asked.status, result: JSON.parse(asked.stdout).result };
  };
  const call = (tool, args, ...server) =>
    ask("tools/call", server, "--tool-name", tool, "--tool-args-json", JSON.stringify(args));

  try {
    // Strictly: it fails where a schema is one that some client or model can't take.
    const listed = ask("tools/list", [], "--strict");
    assert.equal(listed.status, 0);
    const hints = Object.fromEntries(listed.result.tools.map((tool) => [tool.name, tool.annotations.readOnlyHint]));
    assert.deepEqual(hints, { batch_rename_preview: true, ast_edit: true, resolve: false });

    const preview = call("batch_rename_preview", rename);
    assert.equal(preview.status, 0);
    assert.match(preview.result.content[0].text, /^Preview only, nothing has changed yet: 1 action is pending/);
    assert.deepEqual(preview.result.structuredContent, { renames: [{ from: "a.jpeg", to: "a.jpg" }] });
    const [pending] = preview.result._meta["airlock/pending"];
    assert.deepEqual(pending.effects.changes.map(({ kind, from, path }) => ({ kind, from, path })), [
      { kind: "renamed", from: "a.jpeg", path: "a.jpg" },
    ]);
    assert.deepEqual(names(), ["a.jpeg"]);

    // It asks nobody, so a person is to decide at a terminal: until whoever starts the server lets the model decide.
    const apply = { action: "apply", reason: "the model's", id: pending.id };
    const refused = call("resolve", apply);
    assert.equal(refused.status, TOOL_ERROR);
    assert.equal(refused.result._meta["airlock/error"], "needs-person");
    assert.ok(refused.result.content[0].text.includes(`airlock resolve apply --id ${pending.id}`));
    assert.deepEqual(names(), ["a.jpeg"]);

    const applied = call("resolve", apply, "--decide", "model");
    assert.equal(applied.status, 0);
    assert.notEqual(applied.result.isError, true);
    assert.deepEqual(names(), ["a.jpg"]);

    const again = call("resolve", apply, "--decide", "model");
    assert.equal(again.status, TOOL_ERROR);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const era of ["legacy", "modern"]) {
  inspects(era);
  console.log(`@modelcontextprotocol/inspector, ${era}: listed, previewed, left to a person, applied`);
}
