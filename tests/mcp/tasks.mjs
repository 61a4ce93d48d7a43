// Applies as tasks, by the protocol's own client for its extension for tasks, over HTTP.

import assert from "node:assert/strict";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";

import { bearer, serving, within } from "./serving.mjs";

const version = "2026-07-28";
const info = { name: "tasks.mjs", version: "1" };
const rename = { files: ["*.jpeg"], find: "jpeg$", replace: "jpg" };

/** The client leaves it to its host to send what belongs to tasks. */
function dispatching(url) {
  let last = 0;
  return async (request, { context } = {}) => {
    const { method, params } = request;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...context?.headers,
        ...bearer("ann"),
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
        "Mcp-Method": method,
        "Mcp-Name": params.name ?? params.taskId,
      },
      body: JSON.stringify({ ...request, jsonrpc: "2.0", id: `t${(last += 1)}` }),
    });
    const text = await response.text();
    const lines = text.split("\n").filter((line) => line.startsWith("data:"));
    const messages = lines.length > 0 ? lines.map((line) => line.slice(5)).filter((it) => it.trim()) : [text];
    const { result, error } = JSON.parse(messages.at(-1));
    return error ? { kind: "error", error } : { kind: "result", result };
  };
}

/** A preview, then the model wants it applied, and a person decides: in the client, or at a terminal. */
async function decides(decision, url, { run, names }) {
  const client = new Client(info, { capabilities: {}, versionNegotiation: { mode: { pin: version } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: bearer("ann") } }));
  const asked = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: "airlock",
    rawDispatch: dispatching(url),
    v2RequestFraming: {
      protocolVersion: version,
      clientInfo: info,
      clientCapabilities: decision ? { elicitation: {} } : {},
    },
    onInputRequest: async ({ kind, params }) => {
      asked.push([kind, params.message]);
      return { action: "accept", content: { decision, reason: "their own" } };
    },
  });
  try {
    const previewing = await session.callTool("batch_rename_preview", rename);
    assert.equal(previewing.kind, "immediate");
    const applying = await session.callTool("resolve", { action: "apply", reason: "the model's" });
    assert.equal(applying.kind, "task");
    assert.deepEqual(names(), ["a.jpeg"]);
    const seen = [];
    const { outcome } = await applying.settle({
      onEvent: ({ task }) => {
        if (!task) return;
        if (seen.length === 0 && !decision) {
          const [, ...words] = task.statusMessage.split("`")[1].split(" ");
          run(...words, "--reason", "their own");
        }
        seen.push(task.status);
      },
    });
    const result = resultFromTaskOutcome(outcome);
    assert.notEqual(result.isError, true, JSON.stringify(result));
    assert.equal(seen[0], "input_required");
    assert.equal(asked.length, decision ? 1 : 0);
    if (decision) assert.match(asked[0][1], /renamed a\.jpeg -> a\.jpg/);
    assert.deepEqual(names(), decision === "discard" ? ["a.jpeg"] : ["a.jpg"]);
    const logged = JSON.parse(run("log", "--all", "--json")).log[0].resolved;
    assert.equal(logged.reason, "their own");
    assert.equal(logged.decidedBy.evidence, decision ? "client" : "none");
  } finally {
    await session.close();
    await client.close();
  }
}

for (const decision of ["apply", "discard", undefined]) {
  await within((place) => serving(place, [], (url) => decides(decision, url, place)));
}
console.log("@modelcontextprotocol/ext-tasks: applied, discarded, and decided at a terminal, each as a task");
