export { abort } from "./abort.js";
export { PushError, ToolError } from "./errors.js";
export type { Schema, Static } from "./schema.js";
export * from "./types.js";
