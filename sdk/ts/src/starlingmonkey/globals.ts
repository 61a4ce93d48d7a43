// Evaluated before any of the tool's own modules. Everything else that a web page has is there
// already.
import { console } from "../globals/console.js";
import { fetch } from "../globals/fetch.js";

Object.assign(globalThis, { console, fetch });
