/**
 * Whether a call is running or was: before the first, this is the build, and nothing of the host
 * can be called.
 */
let started = false;
const waiting: (() => void)[] = [];

export function isStarted(): boolean {
  return started;
}

/** Called at the start of each call. */
export function start(): void {
  if (started) return;
  started = true;
  for (const work of waiting.splice(0)) work();
}

/** Runs `work` now, or once the first call starts. */
export function onceStarted(work: () => void): void {
  if (started) work();
  else waiting.push(work);
}

/**
 * For what makes no sense while the component is built, and would end up in all of its instances.
 */
export function requireStarted(what: string): void {
  if (!started) throw new Error(`${what} can't be used at the top of a module, which runs once, when the component is built: use it in the factory or in a tool`);
}
