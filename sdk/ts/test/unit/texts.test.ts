import assert from "node:assert/strict";
import { test } from "node:test";

import { messageOf, PushError, ToolError } from "../../src/errors.js";
import { absolute, below } from "../../src/fs/path.js";
import { describeValues } from "../../src/guest/describe.js";

test("whatever is thrown has a message", () => {
  const check = (thrown: unknown, expected: string) => assert.equal(messageOf(thrown), expected);
  check(new Error("plain"), "plain");
  check(new Error(), "Error");
  check(new ToolError("on purpose"), "on purpose");
  check(new PushError("invalid", "the host's text"), "the host's text");
  check(new TypeError("a mistake"), "TypeError: a mistake");
  check("text", "text");
  check(undefined, "the tool threw undefined");
  check(null, "the tool threw null");
  check(Symbol("s"), "the tool threw Symbol(s)");
  check({ message: "like an error" }, "like an error");
  check({ code: 1 }, 'the tool threw {"code":1}');
  check({ toJSON: () => assert.fail() }, "the tool threw a value that can't be shown");
});

test("the log shows values as a programmer reads them", () => {
  const check = (values: unknown[], expected: string) => assert.equal(describeValues(values), expected);
  check([], "");
  check(["a", 1, { b: [null] }], "a 1 { b: [ null ] }");
  check(["%s has %d of %o, %% and %s", "it", "2", { c: 1 }], "it has 2 of { c: 1 }, % and %s");
  check(["100%"], "100%");
  check(["\ud800"], "\ufffd");
});

test("paths are the workspace's unless they are absolute", () => {
  const check = (path: string, expected: string) => assert.equal(absolute(path, "open"), expected);
  check("a/b", "/workspace/a/b");
  check("./a//../b/", "/workspace/b");
  check("/scratch/x", "/scratch/x");
  check("../../..", "/");
  assert.throws(() => absolute("", "open"), { code: "EINVAL", syscall: "open" });
  assert.throws(() => absolute("a\0b", "open"), { code: "EINVAL" });
});

test("a folder has what is below it, and not what only begins like it", () => {
  assert.equal(below("/workspace", "/workspace"), ".");
  assert.equal(below("/workspace", "/workspace/a/b"), "a/b");
  assert.equal(below("/workspace", "/workspace2/a"), undefined);
});
