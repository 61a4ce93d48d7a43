import { structuredClone } from "../vendor/structured-clone.js";

// The polyfill's second argument would allow what can't be cloned.
Object.assign(globalThis, { structuredClone: (value: unknown) => structuredClone(value) });
