import { TextDecoder, TextEncoder } from "../vendor/text.js";

Object.assign(globalThis, { TextDecoder, TextEncoder });
