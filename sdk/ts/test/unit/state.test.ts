import assert from "node:assert/strict";
import { test } from "node:test";

import { openState, sealState } from "../../src/guest/state.js";

test("a state comes back to the tool that sealed it", () => {
  for (const state of [null, 0, "grün €𝄞", "line\nbreak", [1, { two: [] }], Uint8Array.of(0, 10, 255), new Uint8Array(0)]) {
    assert.deepEqual(openState(sealState("some_tool", state)), { tool: "some_tool", state });
  }
});

test("bytes that come back are not the ones in the envelope", () => {
  const { state } = openState(sealState("t", Uint8Array.of(1, 2)));
  assert.equal((state as Uint8Array).buffer.byteLength, 2);
});

test("a state without a form in JSON is refused", () => {
  assert.throws(() => sealState("t", { at: new Set() }), { message: "the action's state can't be written as JSON: state.at is a Set, which JSON would lose" });
});

test("a foreign state is recognized", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  for (const foreign of ["", "no line", "{}\n1", '{"tool":1,"form":"json"}\n1', '{"tool":"t","form":"xml"}\n1', "[\n"]) {
    assert.throws(() => openState(bytes(foreign)), /was not written by this SDK/);
  }
});
