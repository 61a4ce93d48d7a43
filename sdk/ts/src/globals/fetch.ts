/** Promises an error, as `fetch` does where the network can't be reached. */
export function fetch(resource: unknown): Promise<never> {
  const url = String((resource as { url?: unknown } | null)?.url ?? resource);
  return Promise.reject(new TypeError(`fetch of ${url}: a tool has no network here: it gets what it needs as params, or as files of the workspace`));
}
