export { default as structuredClone } from "@ungap/structured-clone";
