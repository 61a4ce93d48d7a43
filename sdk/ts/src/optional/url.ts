import { URL, URLSearchParams } from "../vendor/url.js";

Object.assign(globalThis, { URL, URLSearchParams });
