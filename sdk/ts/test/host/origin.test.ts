import assert from "node:assert/strict";
import { test } from "node:test";

import { component, run, workspace } from "./airlock.js";

const files = { files: ["a", "b"] };

test("the minimal example fits the types, strictly, and its closures are called", () => {
  const plugin = component({ entry: "origin.ts" });
  const applied = run(plugin, "batch_rename_preview", files, workspace(), "--apply", "the names are right");
  assert.deepEqual(applied.content, [{ type: "text", text: "Prepared rename plan for 2 files. Call resolve to apply or discard." }]);
  assert.equal(applied.resolved?.content[0]?.text, "Applied batch rename. Reason: the names are right");
  assert.equal(applied.resolved?.details.sourceToolName, "batch_rename_preview");

  const discarded = run(plugin, "batch_rename_preview", files, workspace(), "--discard", "not these");
  assert.equal(discarded.resolved?.content[0]?.text, "Discarded batch rename. Reason: not these");
});

test("params that don't fit the TypeBox schema never reach the tool", () => {
  const refused = run(component({ entry: "origin.ts" }), "batch_rename_preview", { files: 1 }, workspace());
  assert.match(refused.error?.message ?? "", /files/);
});
