export { decode, encode } from "@jridgewell/sourcemap-codec";
