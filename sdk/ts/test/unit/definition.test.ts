import assert from "node:assert/strict";
import { test } from "node:test";

import { Type } from "@sinclair/typebox";
import { type as arktype } from "arktype";
import * as z from "zod";

import { definitionOf, makeTools, noTools, NoTool } from "../../src/guest/definition.js";
import { readParams, type Schema } from "../../src/schema.js";
import type { CustomTool } from "../../src/types.js";

function tool(parameters: Schema, more: Partial<CustomTool> = {}): CustomTool {
  return { name: "t", label: "T", description: "d", parameters, execute: () => ({ content: [] }), ...more };
}

test("TypeBox, zod, arktype and JSON Schema describe the same params", () => {
  for (const schema of [
    Type.Object({ files: Type.Array(Type.String()) }),
    z.object({ files: z.array(z.string()) }),
    arktype({ files: "string[]" }),
    { type: "object", properties: { files: { type: "array", items: { type: "string" } } }, required: ["files"] },
  ]) {
    const { type, properties, required } = JSON.parse(definitionOf(tool(schema)).parameters);
    assert.deepEqual({ type, properties, required }, { type: "object", properties: { files: { type: "array", items: { type: "string" } } }, required: ["files"] });
  }
});

test("a param with a default is not required of the caller, and is there for the tool", async () => {
  const schema = z.object({ count: z.number().default(3) });
  assert.equal(JSON.parse(definitionOf(tool(schema)).parameters).required, undefined);
  assert.deepEqual(await readParams(schema, {}), { count: 3 });
  assert.deepEqual(JSON.parse(definitionOf(tool(schema, { output: schema })).output ?? "").required, ["count"]);
});

test("a schema of arktype, which is a function, is a schema, and another function is none", async () => {
  const schema = arktype({ count: "number = 3" });
  const [made] = await makeTools(() => tool(schema), {});
  assert.equal(made instanceof NoTool, false);
  assert.deepEqual(await readParams(schema, {}), { count: 3 });
  await assert.rejects(readParams(schema, { count: "a" }), { name: "ToolError", message: /^the params don't fit: count: / });
  const [none] = await makeTools(() => tool((() => {}) as object), {});
  assert(none instanceof NoTool);
});

test("params that only the schema's own code refuses are an error of the tool, with their place", async () => {
  const schema = z.object({ range: z.object({ from: z.number().refine((from) => from !== 2, "must not be 2") }) });
  await assert.rejects(readParams(schema, { range: { from: 2 } }), { name: "ToolError", message: "the params don't fit: range.from: must not be 2" });
});

test("a schema library without JSON Schema says what to do", () => {
  const schema = { "~standard": { version: 1, vendor: "old", validate: () => ({ value: 1 }) } };
  assert.equal(reasonOf(tool(schema)), "its parameters: this schema of old has no form in JSON Schema; update old (zod: 4.2 or later; arktype: 2.1.28 or later), or give a JSON Schema");
});

test("a tool may push actions unless it is read-only", () => {
  const traits = (more: Partial<CustomTool>) => definitionOf(tool({}, more)).traits;
  assert.deepEqual(traits({}), { hidden: false, deferrable: true, readOnly: false, destructive: false, idempotent: false, openWorld: false });
  assert.equal(traits({ readOnly: true }).deferrable, false);
  assert.equal(traits({ deferrable: false }).deferrable, false);
});

/** Why a host is told to leave a tool out. */
function reasonOf(made: Parameters<typeof definitionOf>[0]): unknown {
  return JSON.parse(definitionOf(made).parameters);
}

test("what is no tool is left out by its name or place, with the reason, and the others are there", async () => {
  const check = async (broken: unknown, name: string, reason: string) => {
    const made = await makeTools(() => [tool({ type: "object" }), broken], {});
    assert.deepEqual(made.map((one) => [definitionOf(one).name, reasonOf(one)]), [["t", { type: "object" }], [name, reason]]);
  };
  const place = "[1] of what the factory returned";
  await check(null, place, "it is not a tool but null");
  await check(Promise.resolve(tool({})), place, "it is a promise: a missing await?");
  await check({ ...tool({}), name: undefined }, place, "its `name` is missing; it must be a text");
  await check({ ...tool({}), label: undefined }, "t", "its `label` is missing; it must be a text");
  await check({ ...tool({}), description: 7 }, "t", "its `description` is a number; it must be a text");
  await check({ ...tool({}), parameters: undefined }, "t", "its `parameters` is missing; it must be a schema: for example pi.typebox.Type.Object({})");
  await check({ ...tool({}), execute: undefined }, "t", "its `execute` is missing; it must be a function");
  await check({ ...tool({}), execute: Promise.resolve() }, "t", "its `execute` is a promise: a missing await?");
  await check({ ...tool({}), reject: null }, "t", "its `reject` is null; it must be a function");
});

test("a default export that makes no tool says why", async () => {
  const check = async (factory: unknown, reason: string) => {
    const thrown = await makeTools(factory, {}).then(() => assert.fail("there are tools"), (thrown: unknown) => thrown);
    const { name, parameters } = definitionOf(noTools(thrown));
    assert.deepEqual([name, JSON.parse(parameters)], ["default export", reason]);
  };
  const expected = "and must be a function that gets `pi` and returns the tool: `export default factory`";
  await check(undefined, `it is missing, ${expected}`);
  await check(tool({}), `it is an object, ${expected}`);
  await check(() => [], "the factory returned an empty array instead of tools");
  await check(() => { throw new Error("no weather today"); }, "the factory failed: no weather today");
  await check(async () => (undefined as never as { a: 1 }).a, "the factory failed: TypeError: Cannot read properties of undefined (reading 'a')");
});
