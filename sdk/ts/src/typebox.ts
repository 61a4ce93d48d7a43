import type * as module from "@sinclair/typebox";

/** The module `@sinclair/typebox`. */
export type TypeBox = typeof module;
