import assert from "node:assert/strict";
import { test } from "node:test";

import { ForgottenError, PushError, ToolError } from "../../src/errors.js";
import { located, placesOf, provideLines, stackOf } from "../../src/guest/places.js";
import { encode } from "../../src/vendor/sourcemap.js";

// Line 1 of the bundle is another's; in line 2, another's code stands between lines 3 and 7 of the
// tool; all of line 3 is line 9 of a module.
const mappings = encode([[], [[4, 0, 2, 0], [20], [30, 0, 6, 0]], [[2, 1, 8, 0]]]);
provideLines({ sources: ["src/tool.ts", "src/lib/other.ts"], mappings });

function thrownAt<E extends Error>(error: E, ...frames: string[]): E {
  return Object.assign(error, { stack: frames.join("\n") });
}

test("a position is that of the code before it, and none in another's", () => {
  const check = (position: string, expected: string | undefined) => {
    assert.deepEqual(placesOf(`    at name (componentize-qjs:user.js:${position})`), [expected]);
    assert.deepEqual(placesOf(`name@tool.js:${position}`), [expected]);
  };
  check("1:5", undefined);
  check("2:4", undefined);
  check("2:5", "src/tool.ts:3");
  check("2:20", "src/tool.ts:3");
  check("2:21", undefined);
  check("2:1000", "src/tool.ts:7");
  check("9:9", undefined);
  // The engine knows no column.
  check("2:1", undefined);
  check("3:1", "src/lib/other.ts:9");
});

test("what is no position in the bundle has no place", () => {
  assert.deepEqual(placesOf("    at <input>:2:9\n    at parse (native)\n\n"), [undefined, undefined]);
  assert.deepEqual(placesOf(""), []);
});

test("an error that the tool did not write gets its place, and one that it wrote stays as it is", () => {
  const [own, foreign] = ["    at a (componentize-qjs:user.js:2:5)", "    at b (componentize-qjs:user.js:1:5)"];
  const check = (thrown: unknown, expected: string) => assert.equal(located(thrown, "text"), expected);
  const placed = "text (src/tool.ts:3)";
  check(thrownAt(new TypeError("t"), own, foreign), placed);
  check(thrownAt(new SyntaxError("t"), "    at parse (native)", own), placed);
  check(thrownAt(new Error("t"), foreign, own), placed);
  check(thrownAt(new Error("t"), own, foreign), "text");
  check(thrownAt(new Error("t"), foreign), "text");
  check(thrownAt(new PushError("limit-exceeded", "t"), foreign, own), "text");
  check(thrownAt(new ToolError("t"), own), "text");
  check("text", "text");
});

test("a mistake that the host or nobody noticed gets its place too", () => {
  const [own, foreign] = ["    at a (componentize-qjs:user.js:2:5)", "    at b (componentize-qjs:user.js:1:5)"];
  assert.equal(located(thrownAt(new PushError("invalid", "t"), foreign, own), "text"), "text (src/tool.ts:3)");
  const forgotten = new ForgottenError(thrownAt(new Error("read-only"), own, foreign));
  assert.equal(located(forgotten, forgotten.message), "a promise that nobody awaits failed: read-only: a missing await? (src/tool.ts:3)");
});

test("a stack leads through the tool's own sources", () => {
  const stack = stackOf(thrownAt(new Error("t"), "    at b (componentize-qjs:user.js:1:5)", "    at a (componentize-qjs:user.js:2:5)", "    at c (componentize-qjs:user.js:3:9)"));
  assert.equal(stack, "    at src/tool.ts:3\n    at src/lib/other.ts:9");
});
