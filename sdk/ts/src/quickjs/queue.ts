/** Jobs that run before anything else does: reactions of promises. */
const jobs: (() => void)[] = [];

export function enqueue(job: () => void): void {
  jobs.push(job);
}

/** Runs jobs, and those that they enqueue, until there is none. */
export function runJobs(uncaught: (thrown: unknown) => void): void {
  for (let next = 0; next < jobs.length; next++) {
    try {
      jobs[next]?.();
    } catch (thrown) {
      uncaught(thrown);
    }
  }
  jobs.length = 0;
}
