import assert from "node:assert/strict";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { example, run, workspace } from "./airlock.js";

/** The names in a workspace, sorted; the host's own folder, which the first apply makes, is none of them. */
function names(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name !== ".airlock")
    .sort();
}

test("batch-rename renames what it previewed, and nothing before", () => {
  const plugin = example("batch-rename");
  const folder = workspace({ "a.jpeg": "", "in/b.jpeg": "", "notes.txt": "" });
  const params = { files: ["a.jpeg", "in/b.jpeg", "notes.txt"], find: "\\.jpeg$", replace: ".jpg" };
  const seen = run(plugin, "rename_preview", params, folder);
  assert.deepEqual(seen.pending?.map(({ label, durable }) => ({ label, durable })), [{ label: "Batch rename: 2 files", durable: true }]);
  assert.deepEqual(names(folder), ["a.jpeg", "in", "notes.txt"]);

  const done = run(plugin, "rename_preview", params, folder, "--apply", "yes");
  assert.equal(done.resolved?.content[0]?.text, "Renamed 2 files. Reason: yes");
  assert.deepEqual([...names(folder), ...readdirSync(join(folder, "in"))].sort(), ["a.jpg", "b.jpg", "in", "notes.txt"]);
});

test("batch-rename refuses what would overwrite a file", () => {
  const plugin = example("batch-rename");
  const check = (files: Record<string, string>, params: object, expected: string) => {
    const { error } = run(plugin, "rename_preview", params, workspace(files));
    assert.equal(error?.message, expected);
  };
  const both = { files: ["a1", "a2"], find: "\\d", replace: "" };
  check({ a1: "", a2: "" }, both, "a1 and a2 would both become a.");
  check({ a1: "", a: "" }, { ...both, files: ["a1"] }, "a1 would overwrite a.");
  check({}, { ...both, files: ["a1"] }, "There is no file a1.");
  check({ a1: "" }, { files: ["a1"], find: "a1", replace: "b/c" }, 'a1 would become "b/c", which is no file name.');
});

test("batch-rename takes back what it did when a later file is gone", () => {
  const folder = workspace({ a1: "", b1: "" });
  const plugin = example("batch-rename");
  run(plugin, "rename_preview", { files: ["a1", "b1"], find: "1", replace: "2" }, folder);
  renameSync(join(folder, "b1"), join(folder, "b2"));
  const again = run(plugin, "rename_preview", { files: ["a1"], find: "1", replace: "2" }, folder, "--apply", "yes");
  assert.equal(again.resolved?.isError, false);
  assert.deepEqual(names(folder), ["a2", "b2"]);
});

test("the counter counts in its instance's memory", () => {
  const counted = run(example("counter"), "counter", { by: 2 }, workspace(), "--apply", "more");
  assert.deepEqual(counted.details, { applied: 0 });
  assert.deepEqual(counted.resolved?.details.sourceResultDetails, { applied: 2 });
  const discarded = run(example("counter"), "counter", {}, workspace(), "--discard", "enough");
  assert.equal(discarded.resolved?.content[0]?.text, "The counter stays at 0. Reason: enough");
});

test("each failure says what went wrong", () => {
  const plugin = example("failures");
  const folder = workspace();
  const check = (how: string, kind: string, message: RegExp, ...options: string[]) => {
    const { error } = run(plugin, "failures", { how }, folder, ...options);
    assert.match(error?.message ?? "", message, how);
    assert.equal(error?.kind, kind, how);
  };
  check("tool-error", "tool", /^said by the tool on purpose$/);
  check("failed", "failed", /^something that the tool did not expect$/);
  check("type-error", "failed", /^TypeError: cannot read property 'length' of undefined \(src\/tool\.ts:[1-9][0-9]*\)$/);
  check("string", "failed", /^a string, and no error$/);
  check("nothing", "failed", /^the tool threw undefined$/);
  check("rejected-promise", "failed", /^a promise was rejected$/);
  check("timer-error", "failed", /^a timer came to a bad end$/);
  check("never-settled", "failed", /^execute of tool "failures" waits for a promise that nothing can settle/);
  check("no-result", "failed", /must return an object with an array `content`/);
  check("bad-content", "failed", /^TypeError: .* there are "text", "image" and "resource_link" \(src\/tool\.ts:\d+\)$/);
  check("bad-details", "failed", /^the details .* can't be written as JSON: details is a Map, which JSON would lose$/);
  check("fetch", "failed", /a tool has no network here/);
  check("memory", "failed", /out of memory/);
  check("exit", "trap", /it exited/);
  check("recursion", "limit", /recurse endlessly/);
  check("loop", "limit", /was stopped after 1 s/, "--timeout", "1");
  check("wait", "limit", /was stopped after 1 s/, "--timeout", "1");
});

test("a failed apply says so", () => {
  const { resolved, error } = run(example("failures"), "failures", { how: "string", when: "apply" }, workspace(), "--apply", "go");
  assert.equal(resolved?.content[0]?.text ?? error?.message, "Apply failed: a string, and no error");
});
