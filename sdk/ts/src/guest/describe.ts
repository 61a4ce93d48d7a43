import { inspect } from "../vendor/inspect.js";

/** What `console.log` would write: strings as they are, everything else as a programmer reads it. */
export function describeValues(values: readonly unknown[]): string {
  return values.map(describe).join(" ").toWellFormed();
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    if (value instanceof Error) return value.stack?.includes(value.message) ? value.stack : `${value.name}: ${value.message}\n${value.stack ?? ""}`.trimEnd();
    return inspect(value, { depth: 4 });
  } catch {
    return "[a value that can't be shown]";
  }
}
