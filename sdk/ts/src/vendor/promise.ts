import "../quickjs/placeholder.js";

export { default as Polyfill } from "promise-polyfill";
