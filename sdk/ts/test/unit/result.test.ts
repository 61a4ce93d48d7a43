import assert from "node:assert/strict";
import { test } from "node:test";

import { toWire } from "../../src/guest/result.js";

test("each kind of block has its form in the world", () => {
  const content = [
    { type: "text", text: "a\udc00" },
    { type: "image", data: Uint8Array.of(1, 2), mimeType: "image/png" },
    { type: "image", data: "AQL/", mimeType: "image/png" },
    { type: "resource_link", uri: "file:///a", name: "a" },
    { type: "resource_link", uri: "file:///a", name: "a", mimeType: "text/plain" },
  ];
  assert.deepEqual(toWire({ content, details: { a: 1 } }, "it"), {
    content: [
      { tag: "text", val: "a\ufffd" },
      { tag: "image", val: { data: Uint8Array.of(1, 2), mimeType: "image/png" } },
      { tag: "image", val: { data: Uint8Array.of(1, 2, 255), mimeType: "image/png" } },
      { tag: "resource-link", val: { uri: "file:///a", name: "a" } },
      { tag: "resource-link", val: { uri: "file:///a", name: "a", mimeType: "text/plain" } },
    ],
    details: '{"a":1}',
  });
});

test("no details and null are the same", () => {
  for (const details of [undefined, null]) assert.deepEqual(toWire({ content: [], details }, "it"), { content: [] });
});

test("what is no result says where it is none", () => {
  const check = (returned: unknown, expected: RegExp) => assert.throws(() => toWire(returned, "execute"), { name: "TypeError", message: expected });
  check(undefined, /^execute must return an object with an array `content`/);
  check("text", /^execute must return/);
  check({ content: "text" }, /^execute must return/);
  check({ content: [1] }, /^execute returned content\[0\], which is not an object/);
  check({ content: [{ type: "text", text: "" }, { type: "text" }] }, /^execute returned content\[1\] without a string `text`$/);
  check({ content: [{ type: "video" }] }, /of the type "video"; there are/);
  check({ content: [{ type: "image", data: "%", mimeType: "a/b" }] }, /whose `data` is not base64$/);
  check({ content: [{ type: "image", data: 1, mimeType: "a/b" }] }, /neither a Uint8Array nor a string/);
});

test("a result that is an error fails the call, with its text", () => {
  const check = (result: object, message: string) => assert.throws(() => toWire(result, "execute"), { name: "ToolError", message });
  const content = [{ type: "text", text: "no such file" }, { type: "image", data: "AQL/", mimeType: "image/png" }, { type: "text", text: "try another" }];
  check({ isError: true, content }, "no such file\ntry another");
  check({ isError: "yes", content: [{ type: "text", text: "t" }] }, "t");
  check({ isError: true, content: [] }, "execute returned a result that is an error, without a text");
  for (const isError of [false, undefined, null]) assert.deepEqual(toWire({ isError, content: [] }, "it"), { content: [] });
});

test("a missing await in a result is named", () => {
  const later = Promise.resolve("text");
  const check = (returned: unknown, message: RegExp) => assert.throws(() => toWire(returned, "execute"), { message });
  check({ content: later }, /^execute returned a promise as its content: a missing await\?$/);
  check({ content: [later] }, /^execute returned content\[0\], which is a promise: a missing await\?$/);
  check({ content: [{ type: "text", text: later }] }, /^execute returned content\[0\] whose `text` is a promise: a missing await\?$/);
  check({ content: [], details: { a: [later] } }, /^the details that execute returned can't be written as JSON: details\.a\[0\] is a promise: a missing await\?$/);
});
