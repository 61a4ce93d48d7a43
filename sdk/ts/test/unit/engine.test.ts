import assert from "node:assert/strict";
import { test } from "node:test";

import { enqueue, runJobs } from "../../src/quickjs/queue.js";
import { clearTimer, clearTimers, nextDue, runDue, setTimer } from "../../src/quickjs/timers.js";

test("jobs run in order, with those that they enqueue, and past those that throw", () => {
  const seen: unknown[] = [];
  enqueue(() => {
    seen.push(1);
    enqueue(() => seen.push(3));
    throw "caught";
  });
  enqueue(() => seen.push(2));
  runJobs((thrown) => seen.push(thrown));
  assert.deepEqual(seen, [1, "caught", 2, 3]);
  runJobs((thrown) => assert.fail(String(thrown)));
});

test("timers run when they are due, the earlier first, and of two at a time the one that was set first", () => {
  const seen: string[] = [];
  setTimer(100, () => seen.push("b"), 10, false);
  setTimer(100, () => seen.push("c"), 10, false);
  setTimer(100, () => seen.push("a"), 5, false);
  clearTimer(setTimer(100, () => seen.push("never"), 1, false));
  assert.equal(nextDue(), 105);
  runDue(104);
  assert.deepEqual(seen, []);
  for (let run = 0; run < 4; run++) runDue(110);
  assert.deepEqual(seen, ["a", "b", "c"]);
  assert.equal(nextDue(), undefined);
});

test("an interval repeats, also from within, until it is cleared", () => {
  let ticks = 0;
  const id = setTimer(0, () => ++ticks === 2 && clearTimer(id), 0, true);
  for (let now = 0; now < 10; now++) runDue(now);
  assert.equal(ticks, 2);
  setTimer(0, assert.fail, Number.NaN, true);
  assert.equal(nextDue(), 1);
  clearTimers();
  assert.equal(nextDue(), undefined);
});
