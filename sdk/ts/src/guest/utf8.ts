import { utf8fromStringLoose, utf8toStringLoose } from "../vendor/utf8.js";

/** Half surrogate pairs become U+FFFD. */
export const encodeUtf8: (text: string) => Uint8Array = utf8fromStringLoose;

/** What is not UTF-8 becomes U+FFFD. */
export const decodeUtf8: (bytes: Uint8Array) => string = utf8toStringLoose;
