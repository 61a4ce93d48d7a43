// One conversation with `airlock serve`, by each client for Node and in each era of the protocol.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import * as newer from "@modelcontextprotocol/client";
import { StdioClientTransport as NewerTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const airlock = process.env.AIRLOCK;
const rename = { files: ["*.jpeg"], find: "jpeg$", replace: "jpg" };
const info = { name: "clients.mjs", version: "1" };

/** Each makes a client, whose person answers by `ask` where there is one. */
const kinds = {
  "@modelcontextprotocol/sdk": (ask) => {
    const client = new OlderClient(info, { capabilities: ask ? { elicitation: {} } : {} });
    if (ask) client.setRequestHandler(ElicitRequestSchema, ask);
    return [client, OlderTransport];
  },
  "@modelcontextprotocol/client, legacy": (ask) => newerClient(ask, "legacy"),
  "@modelcontextprotocol/client, auto": (ask) => newerClient(ask, "auto"),
  "@modelcontextprotocol/client, 2026-07-28": (ask) => newerClient(ask, { pin: "2026-07-28" }),
};

function newerClient(ask, mode) {
  const capabilities = ask ? { elicitation: {} } : {};
  const client = new newer.Client(info, { capabilities, versionNegotiation: { mode } });
  if (ask) client.setRequestHandler("elicitation/create", ask);
  return [client, NewerTransport];
}

/** A preview, then the model wants it applied, and a person decides: or nobody can be asked. */
async function decides(kind, decision) {
  const folder = mkdtempSync(join(tmpdir(), "airlock-mcp-"));
  const cwd = join(folder, "photos");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.jpeg"), "a");
  const env = { ...process.env, AIRLOCK_STORE: join(folder, "pending.db") };
  const run = (...args) => execFileSync(airlock, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const names = () => readdirSync(cwd).filter((name) => name.startsWith("a."));

  const asked = [];
  const ask = decision && ((request) => {
    asked.push(request.params.message);
    return { action: "accept", content: { decision, reason: "their own" } };
  });
  const [client, Transport] = kinds[kind](ask);
  try {
    await client.connect(new Transport({ command: airlock, args: ["serve"], cwd, env }));
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations.readOnlyHint]));
    assert.deepEqual(hints, { batch_rename_preview: true, ast_edit: true, resolve: false });

    const preview = await client.callTool({ name: "batch_rename_preview", arguments: rename });
    assert.match(preview.content[0].text, /^Preview only, nothing has changed yet/);
    assert.deepEqual(preview.structuredContent, { renames: [{ from: "a.jpeg", to: "a.jpg" }] });
    assert.deepEqual(names(), ["a.jpeg"]);

    const apply = { name: "resolve", arguments: { action: "apply", reason: "the model's" } };
    const resolved = await client.callTool(apply);
    if (!decision) {
      assert.equal(resolved.isError, true);
      const [, ...words] = resolved.content[0].text.split("`")[1].split(" ");
      run(...words, "--reason", "their own");
    } else {
      assert.equal(asked.length, 1);
      assert.match(asked[0], /renamed a\.jpeg -> a\.jpg/);
      assert.notEqual(resolved.isError, true);
    }
    assert.deepEqual(names(), decision === "discard" ? ["a.jpeg"] : ["a.jpg"]);
    const logged = JSON.parse(run("log", "--all", "--json")).log[0].resolved;
    assert.equal(logged.reason, "their own");
    assert.equal(logged.decidedBy.evidence, decision ? "client" : "none");
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const kind of Object.keys(kinds)) {
  for (const decision of ["apply", "discard", undefined]) await decides(kind, decision);
  console.log(`${kind}: previewed, asked, applied, discarded, decided at a terminal`);
}
