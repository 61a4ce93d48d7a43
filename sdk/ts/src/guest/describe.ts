import { inspect } from "../vendor/inspect.js";
import { stackOf } from "./places.js";

/**
 * What `console.log` would write: strings as they are, everything else as a programmer reads it.
 */
export function describeValues(values: readonly unknown[]): string {
  const [first, ...others] = values;
  if (values.length === 0) return "";
  const start = typeof first === "string" ? fillIn(first, others) : describe(first);
  return [start, ...others.map(describe)].join(" ").toWellFormed();
}

/** Puts the first of `values` where `format` asks for them, and takes those away. */
function fillIn(format: string, values: unknown[]): string {
  return format.replace(/%([sdifjoOc%])/g, (directive, letter: string) => {
    if (letter === "%") return "%";
    if (values.length === 0) return directive;
    const value = values.shift();
    switch (letter) {
      case "c":
        return "";
      case "d":
      case "f":
        return String(Number(value));
      case "i":
        return String(Math.trunc(Number(value)));
      case "j":
        return JSON.stringify(value) ?? "undefined";
      default:
        return describe(value);
    }
  });
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}\n${stackOf(value)}`.trimEnd();
    return inspect(value, { depth: 4 });
  } catch {
    return "[a value that can't be shown]";
  }
}
