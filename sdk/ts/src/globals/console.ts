import { log, type Level } from "airlock:tool/host@0.1.0";

import { describeValues } from "../guest/describe.js";
import { onceStarted } from "../guest/lifecycle.js";
import { stackOf } from "../guest/places.js";

let indent = "";
const counts = new Map<string, number>();
const started = new Map<string, number>();

function write(level: Level, values: readonly unknown[]): void {
  const text = describeValues(values);
  const line = indent ? text.replace(/^/gm, indent) : text;
  onceStarted(() => log(level, line));
}

function elapsed(label: string): string {
  const since = started.get(label);
  return since === undefined ? `${label}: no such timer` : `${label}: ${(performance.now() - since).toFixed(3)} ms`;
}

/** The console, as lines in the host's log. */
export const console = {
  log: (...values: unknown[]) => write("info", values),
  info: (...values: unknown[]) => write("info", values),
  debug: (...values: unknown[]) => write("debug", values),
  warn: (...values: unknown[]) => write("warn", values),
  error: (...values: unknown[]) => write("error", values),
  trace: (...values: unknown[]) => write("trace", [...values, `\n${stackOf(new Error())}`]),
  dir: (value: unknown) => write("info", [value]),
  table: (value: unknown) => write("info", [value]),
  assert(holds?: boolean, ...values: unknown[]): void {
    if (!holds) write("error", ["Assertion failed:", ...values]);
  },
  count(label = "default"): void {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    write("info", [`${label}: ${counts.get(label)}`]);
  },
  countReset: (label = "default") => void counts.delete(label),
  time: (label = "default") => void started.set(label, performance.now()),
  timeLog: (label = "default", ...values: unknown[]) => write("info", [elapsed(label), ...values]),
  timeEnd(label = "default"): void {
    write("info", [elapsed(label)]);
    started.delete(label);
  },
  group(...values: unknown[]): void {
    if (values.length > 0) write("info", values);
    indent += "  ";
  },
  groupEnd: () => void (indent = indent.slice(2)),
};
