/** What the polyfill keeps in a promise. */
export interface Kept {
  isHandled?: boolean;
  _state: number;
  _value: unknown;
  /** Who waits for it while it is pending. */
  _deferreds: { onFulfilled: unknown; onRejected: unknown; promise: Kept }[] | null;
}

const PENDING = 0;
/** How many promises are kept before those that are settled are looked for. */
const ENOUGH = 1024;

/** How often something was begun that takes its time: a timer, or the reaction to a promise. */
let begun = 0;
/** The promise whose executor runs. */
let innermost: Kept | undefined;
/** Whether the next promise is that. */
let isNext = false;
/**
 * Those whose executors began such a thing, as those of async functions do. Others wait for
 * whoever calls their `resolve`, which may be nobody.
 */
const working = new Set<Kept>();
let room = ENOUGH;

/** Notes that something was begun. Gives whether the promise that is for it is settled. */
export function begin(): () => boolean {
  begun++;
  const promise = innermost;
  return () => promise?._state !== PENDING;
}

/** Called by each promise, before its executor runs. */
export function construct(promise: Kept): void {
  if (isNext) innermost = promise;
  isNext = false;
}

/** Runs what makes a promise, and keeps that where its executor has begun something. */
export function constructing<P>(make: () => P): P {
  const outer = innermost;
  const before = begun;
  isNext = true;
  const promise = make();
  innermost = outer;
  if (begun !== before) keep(promise as Kept);
  return promise;
}

/**
 * The constructor of such promises. Each `await` comes here several times, so there is no closure,
 * and a promise that `then` makes, whose executor does nothing, takes the short way.
 */
export function watched(Polyfill: PromiseConstructor) {
  let isDeriving = false;
  const { then } = Polyfill.prototype;
  Object.assign(Polyfill.prototype, {
    then(this: Promise<unknown>, fulfilled: never, rejected: never) {
      begun++;
      isDeriving = true;
      const derived = then.call(this, fulfilled, rejected);
      isDeriving = false;
      return derived;
    },
    constructor: Promise,
  });
  function Promise(this: unknown, executor: never): unknown {
    const made = new.target as Function | undefined;
    if (!made) throw new TypeError("a Promise is made with `new`");
    if (typeof executor !== "function") throw new TypeError("a Promise needs a function");
    if (isDeriving) {
      isDeriving = false;
      return made === Promise ? new Polyfill(executor) : Reflect.construct(Polyfill, [executor], made);
    }
    const outer = innermost;
    const before = begun;
    isNext = true;
    const promise = made === Promise ? new Polyfill(executor) : Reflect.construct(Polyfill, [executor], made);
    innermost = outer;
    if (begun !== before) keep(promise as Kept);
    return promise;
  }
  Promise.prototype = Polyfill.prototype;
  return Promise;
}

/** Of all the promises that were made since the last time, whether one waits that nobody awaits. */
export function takeForgotten(): boolean {
  const isForgotten = [...working].some((promise) => promise._state === PENDING && !isAwaited(promise));
  working.clear();
  room = ENOUGH;
  return isForgotten;
}

function keep(promise: Kept): void {
  if (promise._state !== PENDING) return;
  working.add(promise);
  if (working.size < room) return;
  for (const kept of working) if (kept._state !== PENDING) working.delete(kept);
  room = Math.max(ENOUGH, 2 * working.size);
}

/**
 * Whether somebody wants to know both of how it may end, as `await` does. Who has only `then` or
 * only `catch` makes a promise that has to be awaited in its place.
 */
function isAwaited(promise: Kept): boolean {
  const derived = [promise];
  for (const { _deferreds } of derived) {
    for (const { onFulfilled, onRejected, promise } of _deferreds ?? []) {
      if (onFulfilled && onRejected) return true;
      derived.push(promise);
    }
  }
  return false;
}
