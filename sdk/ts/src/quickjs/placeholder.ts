// The promise polyfill asks for this while it loads, and never calls it.
(globalThis as { setTimeout?: unknown }).setTimeout ??= () => {};
export {};
