import { log } from "airlock:tool/host@0.1.0";
import { subscribeDuration } from "wasi:clocks/monotonic-clock@0.2.12";

import { askWhetherCancelled } from "../guest/cancellation.js";
import { ForgottenError, UnfinishedError } from "../errors.js";
import { describeValues } from "../guest/describe.js";
import { onceStarted, start } from "../guest/lifecycle.js";
import { placesOf } from "../guest/places.js";
import type { Engine } from "../guest/serve.js";
import { runJobs } from "./queue.js";
import { clearTimers, nextDue, runDue, type Setter } from "./timers.js";
import { takeForgotten } from "./waiting.js";

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
    const setters = clearTimers();
    const isForgotten = takeForgotten();
    if ("thrown" in outcome) {
      forgotten.forEach(uncaught);
      throw outcome.thrown;
    }
    if (forgotten.length > 0) throw new ForgottenError(forgotten[0]);
    tellOfTimers(what, setters, isForgotten);
    return outcome.value;
  },
};

/**
 * Timers that have not run, and never will. What a promise would have done that waits for one is
 * lost; others may be there in case something took too long.
 */
function tellOfTimers(what: string, setters: readonly Setter[], isForgotten: boolean): void {
  const [first] = setters;
  if (!first) return;
  if (isForgotten) throw new UnfinishedError(what, (setters.find(({ isSettled }) => !isSettled()) ?? first).at);
  const place = placesOf(first.at.stack ?? "").find((found) => found !== undefined);
  log("warn", `a timer was still set when ${what} returned, and never runs: clear it, or await what it is for${place === undefined ? "" : ` (${place})`}`);
}

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
