import assert from "node:assert/strict";
import { test } from "node:test";

import { makePromise } from "../../src/quickjs/promise.js";
import { enqueue, runJobs } from "../../src/quickjs/queue.js";
import { clearTimer, clearTimers, nextDue, runDue, setTimer } from "../../src/quickjs/timers.js";
import { begin, takeForgotten } from "../../src/quickjs/waiting.js";

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

const fail = (reason: unknown) => assert.fail(String(reason));
const Made = makePromise(fail, fail);
/** As of a timer that never runs. */
const sleep = () => new Made<void>(() => void begin());
const run = () => runJobs(fail);

test("a promise that waits for something, and that nobody awaits, is found", () => {
  const check = (expected: boolean, work: () => unknown) => {
    work();
    run();
    assert.equal(takeForgotten(), expected, String(work));
  };
  const both = [() => {}, () => {}] as const;
  // As `await` is compiled.
  const awaiting = (promise: Promise<unknown>) => new Made((resolve, reject) => void promise.then(resolve, reject));
  check(true, sleep);
  check(true, () => sleep().then(() => {}));
  check(true, () => sleep().catch(() => {}));
  check(true, () => awaiting(sleep()));
  check(true, () => new Made((resolve) => resolve(sleep())));
  check(true, () => Made.all([sleep(), awaiting(sleep())]));
  check(true, () => Made.try(sleep));
  check(false, () => sleep().then(...both));
  check(false, () => awaiting(sleep()).then(() => {}).then(...both));
  check(false, () => Made.race([Made.resolve(), sleep()]));
  check(false, () => Made.any([Made.resolve(), sleep()]));
  check(true, () => Made.any([sleep(), sleep()]));
  // They wait for whoever calls `resolve`.
  check(false, () => new Made(() => {}));
  check(false, () => Made.withResolvers());
  check(false, () => new Made<void>((resolve) => resolve()).then(() => {}));
});

test("a chain of promises is followed however long it is, and those that are settled are let go", () => {
  let promise: Promise<unknown> = sleep();
  for (let i = 0; i < 20_000; i++) promise = promise.then(() => {});
  for (let i = 0; i < 20_000; i++) new Made<void>((resolve) => void Made.resolve().then(() => resolve()));
  run();
  assert.equal(takeForgotten(), true);
  assert.equal(takeForgotten(), false);
});

test("promises are those of the language to who looks at them", () => {
  const seen: unknown[] = [];
  const promise = new Made<number>((resolve) => resolve(1));
  assert(promise instanceof Made && promise.constructor === Made && Made.resolve(promise) === promise);
  class Own extends Made<number> {
    doubled = () => this.then((value) => 2 * value);
  }
  const own = new Own((resolve) => resolve(2));
  assert(own instanceof Own && own.then(() => {}) instanceof Own);
  void own.doubled().then((value) => seen.push(value));
  void promise.finally(() => seen.push("finally")).then((value) => seen.push(value));
  assert.throws(() => (Made as unknown as () => void)(), TypeError);
  assert.throws(() => new (Made as unknown as new () => void)(), TypeError);
  run();
  assert.deepEqual(new Set(seen), new Set([4, "finally", 1]));
});
