export { utf8fromStringLoose, utf8toStringLoose } from "@exodus/bytes/utf8.js";
