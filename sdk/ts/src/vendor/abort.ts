export { AbortController, AbortSignal } from "abortcontroller-polyfill/src/abortcontroller.js";
