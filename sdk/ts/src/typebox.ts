/** TypeBox, to write schemas with where there is no `pi` at hand. */
export * from "@sinclair/typebox";
