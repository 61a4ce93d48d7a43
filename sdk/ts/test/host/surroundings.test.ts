import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { component, otherEngines, run, workspace, type Outcome } from "./airlock.js";

function probe(what: string, ...options: string[]): Outcome {
  const folder = workspace({ "notes.txt": "hello", "folder/deep.txt": "" });
  const outcome = run(component({ entry: "probe.ts" }, "--no-check", "--no-minify"), "probe", { what }, folder, ...options);
  assert.equal(outcome.error, undefined, outcome.error?.message);
  return outcome;
}

test("promises and async functions behave as elsewhere", () => {
  assert.deepEqual(probe("promises").details, {
    order: ["microtask", "after await", "timeout"],
    sum: 10,
    resolved: 7,
    all: [1, 2],
    any: "yes",
    race: "first",
    settled: ["rejected", "fulfilled"],
    rejected: "RangeError: out",
  });
});

test("timers take the time that they say", () => {
  assert.deepEqual(probe("timers").details, { ticks: [0, 1, 2], took: true });
});

test("what the web has, and QuickJS lacks, is there for whoever names it", () => {
  assert.deepEqual(probe("text").details, {
    bytes: [103, 114, 195, 188, 110, 32, 226, 130, 172, 240, 157, 132, 158],
    back: "grün €𝄞",
    early: "grün €𝄞",
    fatal: "TypeError",
  });
  assert.deepEqual(probe("url").details, { href: "https://user@example.com:8080/b?x=1&y=%C3%A4+b#top", host: "example.com:8080", params: ["1", "2"], wrong: "TypeError" });
  assert.deepEqual(probe("clone").details, { equal: true, apart: true, wrong: "TypeError" });
  assert.deepEqual(probe("signal").details, { aborted: false, heard: "heard", name: "AbortError" });
});

test("no two instances have the same random numbers", () => {
  const [one, other] = [probe("crypto").details, probe("crypto").details];
  assert.deepEqual([one.uuid, one.filled, other.uuid, other.filled], [true, true, true, true]);
  assert.notEqual(one.id, other.id);
  assert.notEqual(one.random, other.random);
});

test("what can't be had says so", () => {
  assert.match(probe("absent").details.fetch, /^TypeError: fetch of https:\/\/example.com\/: a tool has no network here/);
  assert.match(probe("top").details.atTheTop[0], /^setTimeout can't be used at the top of a module/);
});

test("the console writes to the host's log", () => {
  const { said } = probe("console", "-v");
  for (const line of [/INFO .*plain \{ a: \[ 1, 'two' \] \}/, /WARN .*Error: shown/, /INFO .*outer/, /ERROR .*  inner\\n  lines/]) assert.match(said, line);
});

test("an error that nobody catches is logged, and a timer that nobody waits for goes with its call", () => {
  const { said } = probe("abandoned", "-v");
  assert.match(said, /uncaught: .*nobody caught this/);
  assert.match(said, /a timer was still set when execute of tool "probe" returned, and never runs: .* \(probe\.ts:119\)/);
  assert.doesNotMatch(said, /too late/);
});

test("a call fails with a promise that was rejected and that nobody looks at, and not with one that is looked at later", () => {
  const folder = workspace({});
  const { error } = run(component({ entry: "probe.ts" }, "--no-check", "--no-minify"), "probe", { what: "forgotten" }, folder);
  assert.match(error?.message ?? "", /^a promise that nobody awaits failed: nobody caught this: a missing await\? \(probe\.ts:\d+\)$/);
  assert.deepEqual(probe("caughtLater").details, { caught: "late" });
});

test("files are read in a preview, and written only in the scratch folder", () => {
  assert.deepEqual(probe("read").details, {
    text: "grün und blau",
    big: true,
    names: ["big", "c.txt", "made"],
    after: ["big", "c.txt"],
    workspace: ["folder/", "notes.txt"],
    size: 5,
    absolute: "hello",
    errors: [
      "FileError: EROFS: read-only file system, open 'notes.txt'",
      "FileError: EROFS: read-only file system, rename 'notes.txt' -> 'other.txt'",
      "FileError: ENOENT: no such file or directory, open 'missing.txt'",
      "FileError: ENOENT: outside of the plugin's folders (/workspace and /scratch), open '/etc/passwd'",
      "FileError: ENOENT: outside of the plugin's folders (/workspace and /scratch), open '../../etc/passwd'",
      "FileError: EISDIR: is a directory, and `recursive` was not given, rm 'folder'",
      "undefined",
      "FileError: ENOTDIR: not a directory, scandir 'notes.txt'",
      "FileError: EISDIR: illegal operation on a directory, read 'folder'",
      "FileError: EINVAL: a path is a string, not empty and without a zero byte, open ''",
    ],
  });
});

for (const engine of ["quickjs", ...otherEngines]) {
  test(`on ${engine}, bytes wait for the apply, which writes files`, () => {
    const folder = workspace();
    const plugin = component({ entry: "probe.ts" }, "--no-check", ...(engine === "quickjs" ? ["--no-minify"] : ["--engine", engine]));
    const { resolved, error } = run(plugin, "bytes", {}, folder, "--apply", "yes");
    assert.deepEqual(resolved?.details.sourceResultDetails, { attempt: 1, bytes: [0, 10, 255], isBytes: true }, error?.message);
    assert.deepEqual([...readFileSync(join(folder, "made/bytes"))], [0, 10, 255]);
  });
}
