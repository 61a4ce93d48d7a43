import { Polyfill } from "../vendor/promise.js";
import { enqueue } from "./queue.js";
import { construct, constructing, watched, type Kept } from "./waiting.js";

const REJECTED = 2;

/**
 * Nobody empties QuickJS's own queue of jobs before an export returns, so promises use a queue of
 * the SDK's.
 */
export function makePromise(unhandled: (reason: unknown) => void, handledLater: (reason: unknown) => void): PromiseConstructor {
  Polyfill._immediateFn = enqueue;
  // The polyfill asks once, in the next job; a tool may look at a promise after others.
  Object.defineProperty(Polyfill.prototype, "_handled", {
    get(this: Kept) {
      return this.isHandled ?? false;
    },
    set(this: Kept, isHandled: boolean) {
      this.isHandled = isHandled;
      if (!isHandled) construct(this);
      else if (this._state === REJECTED) handledLater(this._value);
    },
  });
  Polyfill._unhandledRejectionFn = unhandled;
  // The polyfill takes arrays only.
  for (const name of ["all", "allSettled", "any", "race"] as const) {
    const ofArray = Polyfill[name] as (values: unknown[]) => Promise<unknown>;
    Object.assign(Polyfill, {
      [name](values: Iterable<unknown>) {
        try {
          const array = name === "any" ? Array.from(values, awaited) : Array.from(values);
          return constructing(() => ofArray.call(Polyfill, array));
        } catch (thrown) {
          return Polyfill.reject(thrown);
        }
      },
    });
  }
  const Promise = watched(Polyfill);
  Object.assign(Polyfill, {
    // The polyfill knows its own by their constructor.
    resolve(value: unknown) {
      const isOne = typeof value === "object" && value !== null && value.constructor === Promise;
      return isOne ? value : new Polyfill((resolve) => resolve(value));
    },
  });
  return Object.assign(Promise, Polyfill, {
    withResolvers() {
      let resolve, reject;
      const promise = new Polyfill((...both) => ([resolve, reject] = both));
      return { promise, resolve, reject };
    },
    try: (work: (...values: unknown[]) => unknown, ...values: unknown[]) => constructing(() => new Polyfill((resolve) => resolve(work(...values)))),
  }) as unknown as PromiseConstructor;
}

/** What the polyfill's `any` has only a `then` and a `catch` for, one behind the other. */
function awaited(value: unknown): Promise<unknown> {
  return new Polyfill((resolve, reject) => void Polyfill.resolve(value).then(resolve, reject));
}
