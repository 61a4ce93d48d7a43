// Conversations with `airlock serve`, by the inspector's command line, in each era of the protocol, over stdio and HTTP.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { previews as tools } from "./kinds.mjs";
import { bearer, serving, within } from "./serving.mjs";

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

/** Each of its commands starts a server of its own, so those of one conversation have a session's name in common. */
async function overStdio({ cwd, env }, options, use) {
  // It hands the server little of the environment but what it is told to.
  const handed = ["AIRLOCK_STORE", "XDG_STATE_HOME"].flatMap((name) => ["-e", `${name}=${env[name]}`]);
  await use(() => ["--cwd", cwd, ...handed, "--", airlock, "serve", "--session", "inspected", ...options]);
}

/** A server that is there. */
const overHttp = (place, options, use) =>
  serving(place, options, (url) =>
    use((principal) => {
      const [[name, value]] = Object.entries(bearer(principal));
      return ["--transport", "http", "--header", `${name}: ${value}`, "--server-url", url];
    }),
  );

/** Its commands, for one of those who speak with a server. */
function inspecting(era, { folder, env: inherited }, server) {
  // What it keeps of its own lies at home.
  const env = { ...inherited, HOME: folder };
  const ask = (method, ...options) => {
    const asking = ["--cli", "--protocol-era", era, "--format", "json", "--quiet", "--method", method, ...options];
    const asked = spawnSync(process.execPath, [inspector, ...asking, ...server], { env, encoding: "utf8" });
    return { ...asked, result: asked.stdout && JSON.parse(asked.stdout).result };
  };
  const call = (tool, args) => ask("tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
  /** The tools, and whether they are read-only. Strictly: it fails where a schema is one that some client or model can't take. */
  const hints = () => {
    const listed = ask("tools/list", "--strict");
    assert.equal(listed.status, 0, listed.stderr);
    return Object.fromEntries(listed.result.tools.map((tool) => [tool.name, tool.annotations.readOnlyHint]));
  };
  const apply = (id) => call("resolve", { action: "apply", reason: "the model's", id });
  return { call, hints, apply };
}

/** Gives the id of what is pending then. */
function previews(one, names) {
  assert.deepEqual(one.hints(), { ...tools, resolve: false });
  const preview = one.call("batch_rename_preview", rename);
  assert.equal(preview.status, 0, preview.stderr);
  assert.match(preview.result.content[0].text, /^Preview only, nothing has changed yet: 1 action is pending/);
  assert.equal(preview.result.structuredContent, undefined);
  const [pending] = preview.result._meta["airlock/pending"];
  assert.deepEqual(pending.effects.changes.map(({ kind, from, path }) => ({ kind, from, path })), [
    { kind: "renamed", from: "a.jpeg", path: "a.jpg" },
  ]);
  assert.deepEqual(names(), ["a.jpeg"]);
  return pending.id;
}

/**
 * It asks nobody, so a person is to decide at a terminal. In the later era it has tasks, and its command would wait for
 * them: tasks.mjs does, with the library that it uses.
 */
function leavesIt(era, one, id, names) {
  if (era !== "legacy") return;
  const refused = one.apply(id);
  assert.equal(refused.status, TOOL_ERROR, refused.stderr);
  assert.equal(refused.result._meta["airlock/error"], "needs-person");
  assert.ok(refused.result.content[0].text.includes(`airlock resolve apply --id ${id}`));
  assert.deepEqual(names(), ["a.jpeg"]);
}

function applies(one, id, names) {
  const applied = one.apply(id);
  assert.equal(applied.status, 0, applied.stderr);
  assert.notEqual(applied.result.isError, true);
  assert.deepEqual(names(), ["a.jpg"]);
  assert.equal(one.apply(id).status, TOOL_ERROR);
}

/** Nobody decides about what is somebody else's, and who may only preview decides about nothing. */
function keepsApart([bob, eve], id, names) {
  assert.equal(bob.apply(id).status, TOOL_ERROR);
  assert.deepEqual(eve.hints(), tools);
  assert.notEqual(eve.apply(id).status, 0);
  assert.deepEqual(names(), ["a.jpeg"]);
}

/** Until whoever starts the server lets the model decide. */
const byModel = ["--decide", "model"];

for (const era of ["legacy", "modern"]) {
  await within(async (place) => {
    let id;
    await overStdio(place, [], (server) => {
      const one = inspecting(era, place, server());
      id = previews(one, place.names);
      leavesIt(era, one, id, place.names);
    });
    await overStdio(place, byModel, (server) => applies(inspecting(era, place, server()), id, place.names));
  });
  await within(async (place) => {
    let id;
    await overHttp(place, [], (server) => {
      const [ann, ...others] = ["ann", "bob", "eve"].map((name) => inspecting(era, place, server(name)));
      id = previews(ann, place.names);
      leavesIt(era, ann, id, place.names);
      keepsApart(others, id, place.names);
    });
    await overHttp(place, byModel, (server) => {
      const ann = inspecting(era, place, server("ann"));
      // Which conversations there are by `initialize` ends with the server; the principal's own goes on.
      if (era === "legacy") id = previews(ann, place.names);
      applies(ann, id, place.names);
    });
  });
  const left = era === "legacy" ? "left to a person, " : "";
  const done = `listed, previewed, ${left}applied, and over HTTP; kept apart there`;
  console.log(`@modelcontextprotocol/inspector, ${era}: ${done}`);
}
