// Evaluated before any of the tool's own modules.
import { console } from "../globals/console.js";
import { crypto, randomFrom } from "../globals/crypto.js";
import { fetch } from "../globals/fetch.js";
import { requireStarted } from "../guest/lifecycle.js";
import { handledLater, unhandled } from "./engine.js";
import { makePromise } from "./promise.js";
import { begin } from "./waiting.js";
import { enqueue } from "./queue.js";
import { clearTimer, setTimer } from "./timers.js";

function timer(name: string, repeats: boolean) {
  return (run: unknown, delay = 0, ...values: unknown[]): number => {
    requireStarted(name);
    if (typeof run !== "function") throw new TypeError(`${name} needs a function`);
    const setter = { at: new Error("set"), isSettled: begin() };
    return setTimer(performance.now(), () => (run as (...values: unknown[]) => void)(...values), delay, repeats, setter);
  };
}

const setTimeout = timer("setTimeout", false);
Object.assign(globalThis, {
  Promise: makePromise(unhandled, handledLater),
  queueMicrotask: enqueue,
  setTimeout,
  setInterval: timer("setInterval", true),
  setImmediate: (run: unknown, ...values: unknown[]) => setTimeout(run, 0, ...values),
  clearTimeout: clearTimer,
  clearInterval: clearTimer,
  clearImmediate: clearTimer,
  console,
  crypto,
  fetch,
});
Math.random = randomFrom(Math.random);
// With 10, the SDK's own calls would hide the tool's.
(Error as { stackTraceLimit?: number }).stackTraceLimit = 50;
