import assert from "node:assert/strict";
import { test } from "node:test";

import { Type } from "@sinclair/typebox";
import * as z from "zod";

import { checkTools, definitionOf } from "../../src/guest/definition.js";
import { readParams, type Schema } from "../../src/schema.js";
import type { CustomTool } from "../../src/types.js";

function tool(parameters: Schema, more: Partial<CustomTool> = {}): CustomTool {
  return { name: "t", label: "T", description: "d", parameters, execute: () => ({ content: [] }), ...more };
}

test("TypeBox, zod and JSON Schema describe the same params", () => {
  for (const schema of [
    Type.Object({ files: Type.Array(Type.String()) }),
    z.object({ files: z.array(z.string()) }),
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

test("params that only the schema's own code refuses are an error of the tool, with their place", async () => {
  const schema = z.object({ range: z.object({ from: z.number().refine((from) => from !== 2, "must not be 2") }) });
  await assert.rejects(readParams(schema, { range: { from: 2 } }), { name: "ToolError", message: "the params don't fit: range.from: must not be 2" });
});

test("a schema library without JSON Schema says what to do", () => {
  const schema = { "~standard": { version: 1, vendor: "old", validate: () => ({ value: 1 }) } };
  assert.throws(() => definitionOf(tool(schema)), { message: 'tool "t": parameters: this schema of old has no form in JSON Schema; update old (zod: 4.2 or later), or give a JSON Schema' });
});

test("a tool may push actions unless it is read-only", () => {
  const traits = (more: Partial<CustomTool>) => definitionOf(tool({}, more)).traits;
  assert.deepEqual(traits({}), { hidden: false, deferrable: true, readOnly: false, destructive: false, idempotent: false, openWorld: false });
  assert.equal(traits({ readOnly: true }).deferrable, false);
  assert.equal(traits({ deferrable: false }).deferrable, false);
});

test("what is no tool is named", () => {
  const check = (made: unknown, expected: RegExp) => assert.throws(() => checkTools(made), { name: "TypeError", message: expected });
  check(undefined, /^what the factory returned is no tool, but a undefined$/);
  check([tool({}), null], /^tool 1 of the factory's array is no tool, but null$/);
  check({ ...tool({}), parameters: undefined }, /^tool "t" has no `parameters`/);
  check({ ...tool({}), execute: 1 }, /^tool "t" has no function `execute`$/);
  check({ ...tool({}), reject: 1 }, /^tool "t": `reject` is no function$/);
  assert.throws(() => definitionOf(tool({}, { label: undefined as never })), { message: 'tool "t": label must be a string, and is missing' });
});
