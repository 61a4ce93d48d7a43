import { AbortController, AbortSignal } from "../vendor/abort.js";

Object.assign(globalThis, { AbortController, AbortSignal });
