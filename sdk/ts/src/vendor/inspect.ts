export { default as inspect } from "object-inspect";
