import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { airlock, component, otherEngines, run, workspace } from "./airlock.js";

for (const options of [[], ["--no-minify"], ...otherEngines.map((engine) => ["--engine", engine])]) {
  const plugin = () => component({ entry: "faults.js" }, ...options);
  const which = options.join(" ") || "the default";

  test(`with ${which}, an error that the tool did not write says its place, and one that it wrote stays as it is`, () => {
    const check = (how: string, kind: string, message: RegExp) => {
      const { error } = run(plugin(), "faults", { how }, workspace());
      assert.match(error?.message ?? "", message, how);
      assert.equal(error?.kind, kind, how);
    };
    check("engine", "failed", /^TypeError: .* \(faults\.js:9\)$/);
    check("timer", "failed", /^TypeError: .* \(faults\.js:15\)$/);
    check("file", "failed", /^ENOENT: no such file or directory, open 'missing\.txt' \(faults\.js:21\)$/);
    check("details", "failed", /^the action's details can't be written as JSON: details\.items\[1\] is a promise: a missing await\? \(faults\.js:22\)$/);
    check("fetch", "failed", /a tool has no network here.* \(faults\.js:23\)$/);
    check("plain", "failed", /^in the tool's own words$/);
    check("tool", "tool", /^on purpose$/);
    check("text", "failed", /^no error at all$/);
    check("push", "failed", /^the label is empty \(faults\.js:31\)$/);
    check("error", "tool", /^as MCP says it$/);
  });
}

test("a promise that waits for a timer, and that nobody awaits, fails the call, and a timer alone is told in the log", () => {
  const { error } = run(component({ entry: "faults.js" }), "faults", { how: "left" }, workspace());
  assert.match(error?.message ?? "", /^a promise that nobody awaits still waited for a timer when execute of tool "faults" returned, .*: a missing await\? \(faults\.js:44\)$/);
  const args = ["-v", "run", component({ entry: "faults.js" }), "faults", '{"how": "race"}', "--workspace", workspace()];
  const { status, stderr } = spawnSync(airlock, args, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /a timer was still set when execute of tool "faults" returned, and never runs: clear it, or await what it is for \(faults\.js:44\)/);
});

test("what is wrong with a result is told with the place of the function", () => {
  const { error } = run(component({ entry: "faults.js" }), "no_result", {}, workspace());
  assert.match(error?.message ?? "", /^TypeError: execute of tool "no_result" must return an object .* \(faults\.js:72\)$/);
});

test("an apply that returns an error has failed, and its action is pending again", () => {
  const check = (how: string, left: string[]) => {
    const { resolved, pending } = run(component({ entry: "faults.js" }), "applies", { how }, workspace(), "--apply", "go");
    assert.deepEqual([resolved?.isError, resolved?.content[0]?.text], [true, "as MCP says it"]);
    assert.deepEqual(pending?.map(({ label }) => label), left);
  };
  check("durable", ["Fail"]);
  // It is gone with the instance, when the command ends.
  check("volatile", []);
});

test("a tool with a mistake in its definition is left out with the reason, and the others can be called", () => {
  const plugin = component({ entry: "faults.js" });
  const { stdout } = spawnSync(airlock, ["inspect", plugin, "--json"], { encoding: "utf8" });
  const { tools, rejected } = JSON.parse(stdout);
  assert.deepEqual(tools.map(({ name }: { name: string }) => name), ["faults", "applies", "no_result"]);
  assert.deepEqual(rejected, [
    { name: "no_execute", reason: "the plugin says: its `execute` is missing; it must be a function" },
    { name: "no_label", reason: "the plugin says: its `label` is missing; it must be a text" },
  ]);
});

test("a factory that fails says so, with its place", () => {
  const { stderr } = spawnSync(airlock, ["inspect", component({ entry: "factory.js" })], { encoding: "utf8" });
  assert.match(stderr, /the plugin says: the factory failed: TypeError: .* \(factory\.js:4\)$/m);
  assert.doesNotMatch(stderr, /panicked/);
});
