// Conversations with `airlock serve`, by each client for Node, in each era of the protocol, over stdio and over HTTP.

import assert from "node:assert/strict";

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { apply, connected, kinds, overHttp, overStdio, previews, rename } from "./kinds.mjs";
import { serving, within } from "./serving.mjs";

async function hints(client) {
  const { tools } = await client.listTools();
  return Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations.readOnlyHint]));
}

/** What Claude Code and VS Code give a model: `structuredContent` where there is any, and else the content. */
function asModelsReadIt(result) {
  if (result.structuredContent) return JSON.stringify(result.structuredContent);
  return result.content.map((block) => block.text ?? "").join("\n");
}

/** A preview, then the model wants it applied, and a person decides: or nobody can be asked. */
async function decides(kind, decision, { names, run }, door) {
  const asked = [];
  const ask = decision && ((request) => {
    asked.push(request.params.message);
    return { action: "accept", content: { decision, reason: "their own" } };
  });
  await connected(kinds[kind](ask), door, async (client) => {
    assert.deepEqual(await hints(client), { ...previews, resolve: false });

    const preview = await client.callTool(rename);
    assert.match(preview.content[0].text, /^Preview only, nothing has changed yet/);
    assert.equal(preview.structuredContent, undefined);
    assert.match(asModelsReadIt(preview), /is pending[^]*Verified by the host: 1 renamed/);
    assert.deepEqual(names(), ["a.jpeg"]);

    const resolved = await client.callTool(apply());
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
  });
}

/** An agent with these tools alone writes a file, edits it and reads it. */
async function edits(kind, { cwd }, door) {
  const ask = () => ({ action: "accept", content: { decision: "apply" } });
  const onDisk = () => readFileSync(join(cwd, "b.txt"), "utf8");
  const changes = [
    ["write_file", { content: "one\ntwo\n" }, "one\ntwo\n"],
    ["edit_file", { edits: [{ old_text: "two", new_text: "three" }] }, "one\nthree\n"],
  ];
  await connected(kinds[kind](ask), door, async (client) => {
    for (const [name, params, expected] of changes) {
      const preview = await client.callTool({ name, arguments: { path: "b.txt", ...params } });
      assert.match(preview.content[0].text, /^Preview only, nothing has changed yet/);
      const applied = await client.callTool(apply());
      assert.notEqual(applied.isError, true);
      assert.equal(onDisk(), expected);
      const read = await client.callTool({ name: "read_file", arguments: { path: "b.txt" } });
      assert.ok(asModelsReadIt(read).includes(expected));
    }
  });
}

/** Nobody decides about what is somebody else's, and who may only preview decides about nothing. */
async function keepsApart(kind, url, { names }) {
  const as = (principal, use) => {
    const ask = () => ({ action: "accept", content: { decision: "apply" } });
    return connected(kinds[kind](ask), overHttp(url, principal), use);
  };
  const previewed = async (client) => {
    const preview = await client.callTool(rename);
    return preview._meta["airlock/pending"][0].id;
  };
  await as("ann", async (ann) => {
    const id = await previewed(ann);
    await as("bob", async (bob) => {
      assert.deepEqual(await hints(bob), { ...previews, resolve: false });
      assert.match(await refused(bob, id), /^There is no pending action/);
    });
    await as("eve", async (eve) => {
      assert.deepEqual(await hints(eve), previews);
      assert.match(await refused(eve, await previewed(eve)), /there is no tool `resolve`/);
    });
    assert.deepEqual(names(), ["a.jpeg"]);

    const applied = await ann.callTool(apply(id));
    assert.notEqual(applied.isError, true);
    assert.deepEqual(names(), ["a.jpg"]);
  });
}

/** Why an action is not applied. */
async function refused(client, id) {
  try {
    const resolved = await client.callTool(apply(id));
    assert.equal(resolved.isError, true);
    return resolved.content[0].text;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return error.message;
  }
}

for (const kind of Object.keys(kinds)) {
  for (const decision of ["apply", "discard", undefined]) {
    await within((place) => decides(kind, decision, place, overStdio(place)));
    await within((place) => serving(place, [], (url) => decides(kind, decision, place, overHttp(url, "ann"))));
  }
  await within((place) => edits(kind, place, overStdio(place)));
  await within((place) => serving(place, [], (url) => keepsApart(kind, url, place)));
  console.log(`${kind}: previewed, applied, discarded, edited, decided at a terminal, over HTTP; kept apart there`);
}
