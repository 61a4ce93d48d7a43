import assert from "node:assert/strict";
import { test } from "node:test";

import { toJson } from "../../src/json.js";

const circle: { inner: unknown[] } = { inner: [] };
circle.inner.push(circle);

function checkWritten(value: unknown, expected: string): void {
  assert.equal(toJson(value, "it", "it"), expected);
}

function checkRefused(value: unknown, expected: string): void {
  assert.throws(() => toJson(value, "the action's state", "state"), { message: `the action's state can't be written as JSON: ${expected}` });
}

class Plan {
  files = ["a"];
}

class Money {
  constructor(readonly cents: unknown) {}
  toJSON() {
    return { cents: this.cents };
  }
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

test("a class says by itself what it is in JSON", () => {
  checkWritten({ price: new Money(5) }, '{"price":{"cents":5}}');
  checkWritten(Object.assign(Object.create(null), { a: 1 }), '{"a":1}');
  checkRefused({ price: new Money(Promise.resolve(5)) }, "state.price.cents is a promise: a missing await?");
  checkRefused([{ toJSON: async () => 1 }], "state[0] is a promise: a missing await?");
  checkRefused({ when: new Date(NaN) }, "state.when is an invalid Date");
});

test("what would be lost in silence is refused, with its place", () => {
  checkRefused(undefined, "state is undefined");
  checkRefused({ files: [{ size: NaN }] }, "state.files[0].size is NaN");
  checkRefused({ at: new Map() }, "state.at is a Map, which JSON would lose");
  checkRefused({ at: new Set() }, "state.at is a Set, which JSON would lose");
  checkRefused([1n], "state[0] is a bigint");
  checkRefused({ run: () => {} }, "state.run is a function");
  checkRefused({ bytes: new Uint8Array(1) }, "state.bytes is a Uint8Array, which JSON would lose");
  checkRefused({ plan: new Plan() }, "state.plan is a Plan, which JSON would lose");
  checkRefused({ failed: new RangeError("r") }, "state.failed is a RangeError, which JSON would lose");
  checkRefused({ "a key": [/x/] }, 'state["a key"][0] is a RegExp, which JSON would lose');
  checkRefused([undefined], "state[0] is undefined");
  checkRefused(circle, "state.inner[0] contains itself");
});

test("a promise is refused wherever it is", () => {
  const later = Promise.resolve("text");
  checkRefused(later, "state is a promise: a missing await?");
  checkRefused({ items: [1, 2, { x: later }] }, "state.items[2].x is a promise: a missing await?");
  checkRefused({ then: () => {} }, "state is a promise: a missing await?");
  checkRefused({ run: async () => {} }, "state.run is a function");
});
