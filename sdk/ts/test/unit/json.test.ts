import assert from "node:assert/strict";
import { test } from "node:test";

import { toJson } from "../../src/json.js";

const circle: { inner: unknown[] } = { inner: [] };
circle.inner.push(circle);

function checkWritten(value: unknown, expected: string): void {
  assert.equal(toJson(value, "it"), expected);
}

function checkRefused(value: unknown, expected: string): void {
  assert.throws(() => toJson(value, "the plan"), { message: `the plan can't be written as JSON: ${expected}` });
}

test("what JSON has is written", () => {
  checkWritten(null, "null");
  checkWritten({ a: [1, "two", true, null], left: undefined }, '{"a":[1,"two",true,null]}');
  checkWritten(new Date(0), '"1970-01-01T00:00:00.000Z"');
  const shared = { x: 1 };
  checkWritten([shared, shared], '[{"x":1},{"x":1}]');
});

test("half of a surrogate pair becomes a replacement character", () => {
  checkWritten({ text: "a\ud800b" }, '{"text":"a\ufffdb"}');
});

test("what would be lost in silence is refused, with its place", () => {
  checkRefused(undefined, "it is undefined");
  checkRefused({ files: [{ size: NaN }] }, "files[0].size is NaN");
  checkRefused({ at: new Map() }, "at is a Map");
  checkRefused([1n], "[0] is a bigint");
  checkRefused({ run: () => {} }, "run is a function");
  checkRefused({ bytes: new Uint8Array(1) }, "bytes is a Uint8Array");
  checkRefused([undefined], "[0] is undefined");
  checkRefused(circle, "inner[0] contains itself");
});
