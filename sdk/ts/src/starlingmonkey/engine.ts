import { start } from "../guest/lifecycle.js";
import type { Engine } from "../guest/serve.js";

/** StarlingMonkey runs its event loop until what an export returned is settled. */
export const engine: Engine = {
  async call<T>(_what: string, work: () => Promise<T>): Promise<T> {
    start();
    return work();
  },
};
