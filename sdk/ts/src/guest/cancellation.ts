import { isCancelled } from "airlock:tool/host@0.1.0";

import { AbortController } from "../vendor/abort.js";

let current: Cancellation | undefined;

/** Whether somebody still wants the answer to one call. Asks the host whenever the program does. */
export class Cancellation {
  #controller: AbortController | undefined;
  #seen = false;

  static begin(): Cancellation {
    current = new Cancellation();
    return current;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // The polyfill keeps `aborted` in a property, which would only be true after somebody else
      // has asked the host.
      let aborted = false;
      Object.defineProperty(this.#controller.signal, "aborted", {
        get: () => aborted || (this.ask() && aborted),
        set: (value: boolean) => void (aborted = value),
      });
      if (this.#seen) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Asks the host, and aborts the signal when it says so. */
  ask(): boolean {
    if (!this.#seen && isCancelled()) {
      this.#seen = true;
      this.#controller?.abort();
    }
    return this.#seen;
  }
}

/** Asks for the call that is running. */
export function askWhetherCancelled(): void {
  current?.ask();
}
