/** Who set a timer. */
export interface Setter {
  /** Made there, for its stack. */
  readonly at: Error;
  /** Whether the promise is settled whose executor set it; there may be none. */
  readonly isSettled: () => boolean;
}

/** What is due at a later time. */
interface Timer {
  readonly id: number;
  readonly run: () => void;
  readonly setter: Setter | undefined;
  /** For an interval, in milliseconds. */
  readonly every: number | undefined;
  /** In milliseconds. */
  due: number;
}

const timers = new Map<number, Timer>();
let lastId = 0;

/** @param now in milliseconds */
export function setTimer(now: number, run: () => void, delay: number, repeats: boolean, setter?: Setter): number {
  const wait = Math.max(repeats ? 1 : 0, Number.isFinite(Number(delay)) ? Number(delay) : 0);
  const timer = { id: ++lastId, run, setter, every: repeats ? wait : undefined, due: now + wait };
  timers.set(timer.id, timer);
  return timer.id;
}

export function clearTimer(id: unknown): void {
  timers.delete(id as number);
}

/** Timers that nobody waits for any more go with the call that set them. Gives who did. */
export function clearTimers(): Setter[] {
  const setters = [...timers.values()].flatMap(({ setter }) => setter ?? []);
  timers.clear();
  return setters;
}

/** When the next timer is due, in milliseconds; none where there is no timer. */
export function nextDue(): number | undefined {
  return next()?.due;
}

/** Runs the next timer if it is due. */
export function runDue(now: number): void {
  const timer = next();
  if (!timer || timer.due > now) return;
  if (timer.every === undefined) timers.delete(timer.id);
  else timer.due = now + timer.every;
  timer.run();
}

/** The earliest, and of several the one that was set first: a map keeps their order. */
function next(): Timer | undefined {
  let earliest: Timer | undefined;
  for (const timer of timers.values()) {
    if (!earliest || timer.due < earliest.due) earliest = timer;
  }
  return earliest;
}
