import { Polyfill } from "../vendor/promise.js";
import { enqueue } from "./queue.js";

/** What the polyfill keeps in a promise. */
interface Settled {
  isHandled?: boolean;
  _state: number;
  _value: unknown;
}

const REJECTED = 2;

/**
 * Nobody empties QuickJS's own queue of jobs before an export returns, so promises use a queue of
 * the SDK's.
 */
export function makePromise(unhandled: (reason: unknown) => void, handledLater: (reason: unknown) => void): PromiseConstructor {
  Polyfill._immediateFn = enqueue;
  // The polyfill asks once, in the next job; a tool may look at a promise after others.
  Object.defineProperty(Polyfill.prototype, "_handled", {
    get(this: Settled) {
      return this.isHandled ?? false;
    },
    set(this: Settled, isHandled: boolean) {
      this.isHandled = isHandled;
      if (isHandled && this._state === REJECTED) handledLater(this._value);
    },
  });
  Polyfill._unhandledRejectionFn = unhandled;
  // The polyfill takes arrays only.
  for (const name of ["all", "allSettled", "any", "race"] as const) {
    const ofArray = Polyfill[name] as (values: unknown[]) => Promise<unknown>;
    Object.assign(Polyfill, {
      [name](values: Iterable<unknown>) {
        try {
          return ofArray.call(Polyfill, Array.from(values));
        } catch (thrown) {
          return Polyfill.reject(thrown);
        }
      },
    });
  }
  return Object.assign(Polyfill, {
    withResolvers() {
      let resolve, reject;
      const promise = new Polyfill((...both) => ([resolve, reject] = both));
      return { promise, resolve, reject };
    },
    try: (work: (...values: unknown[]) => unknown, ...values: unknown[]) => new Polyfill((resolve) => resolve(work(...values))),
  });
}
