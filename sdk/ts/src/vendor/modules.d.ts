declare module "abortcontroller-polyfill/src/abortcontroller.js" {
  export const AbortController: { new (): globalThis.AbortController };
  export const AbortSignal: typeof globalThis.AbortSignal;
}
declare module "core-js-pure/actual/url" {
  const implementation: typeof URL;
  export default implementation;
}
declare module "core-js-pure/actual/url-search-params" {
  const implementation: typeof URLSearchParams;
  export default implementation;
}
declare module "object-inspect" {
  export default function inspect(value: unknown, options?: { depth?: number }): string;
}
declare module "promise-polyfill" {
  const implementation: PromiseConstructor & {
    _immediateFn: (job: () => void) => void;
    _unhandledRejectionFn: (reason: unknown) => void;
  };
  export default implementation;
}
declare module "@ungap/structured-clone" {
  export default function structuredClone(value: unknown): unknown;
}
