import { log } from "airlock:tool/host@0.1.0";
import { subscribeDuration } from "wasi:clocks/monotonic-clock@0.2.12";

import { askWhetherCancelled } from "../guest/cancellation.js";
import { ForgottenError } from "../errors.js";
import { describeValues } from "../guest/describe.js";
import { onceStarted, start } from "../guest/lifecycle.js";
import type { Engine } from "../guest/serve.js";
import { runJobs } from "./queue.js";
import { clearTimers, nextDue, runDue } from "./timers.js";

/**
 * How long a cancellation may go unnoticed while the program waits for a timer, in milliseconds.
 */
const PATIENCE = 20;
const NANOSECONDS = 1_000_000;

/**
 * Nobody waits for what an export returns, so its promise is brought to its end before it returns.
 */
export const engine: Engine = {
  call<T>(what: string, work: () => Promise<T>): T {
    start();
    // Of the modules themselves, while the component was built.
    forgotten.splice(0).forEach(uncaught);
    let outcome: { value: T } | { thrown: unknown } | undefined;
    work().then(
      (value) => (outcome = { value }),
      (thrown: unknown) => (outcome = { thrown }),
    );
    runJobs(uncaught);
    while (!outcome) {
      waitForTimer(what);
      runJobs(uncaught);
    }
    clearTimers();
    if ("thrown" in outcome) {
      forgotten.forEach(uncaught);
      throw outcome.thrown;
    }
    if (forgotten.length > 0) throw new ForgottenError(forgotten[0]);
    return outcome.value;
  },
};

/** Why promises of this call were rejected that nobody looks at. */
const forgotten: unknown[] = [];

/**
 * Of a promise that nobody looks at: what it was for did not happen, so a result that came all the
 * same says something that isn't so.
 */
export function unhandled(reason: unknown): void {
  forgotten.push(reason);
}

/** Somebody looks at it after all. */
export function handledLater(reason: unknown): void {
  const index = forgotten.indexOf(reason);
  if (index >= 0) forgotten.splice(index, 1);
}

function waitForTimer(what: string): void {
  const due = nextDue();
  if (due === undefined) throw new Error(`${what} waits for a promise that nothing can settle: no timer is left, and nothing else is running`);
  const wait = due - performance.now();
  if (wait > 0) {
    using pollable = subscribeDuration(Math.ceil(Math.min(wait, PATIENCE) * NANOSECONDS) as unknown as bigint);
    pollable.block();
    askWhetherCancelled();
  }
  try {
    runDue(performance.now());
  } catch (thrown) {
    uncaught(thrown);
  }
}

/** Tells of what nobody can catch any more. */
export function uncaught(thrown: unknown): void {
  onceStarted(() => log("error", `uncaught: ${describeValues([thrown])}`));
}
