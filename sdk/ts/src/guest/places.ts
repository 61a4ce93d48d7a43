import { ForgottenError, isProgramError, PushError, UnfinishedError } from "../errors.js";
import { decode } from "../vendor/sourcemap.js";

/**
 * Where the code of the bundle comes from: a source map of lines, in which all but the tool's own
 * sources is left out.
 */
export interface Lines {
  /** Relative to the project. */
  readonly sources: readonly string[];
  readonly mappings: string;
}

let lines: Lines | undefined;
/** Of `lines`, once they were asked for. */
let decoded: ReturnType<typeof decode> | undefined;

export function provideLines(provided: Lines): void {
  lines = provided;
  decoded = undefined;
}

/**
 * `message`, and behind it the place in the tool's sources that it comes from: unless the tool
 * wrote it itself, or the host did, whose texts reach the caller as they are. Those about an action
 * that nobody can be shown are about a mistake of the tool's, and have its place.
 */
export function located(thrown: unknown, message: string): string {
  if (!(thrown instanceof Error)) return message;
  const isMistake = thrown instanceof ForgottenError || thrown instanceof UnfinishedError || (thrown instanceof PushError && thrown.kind === "invalid");
  if (thrown instanceof PushError && !isMistake) return message;
  const places = placesOf(thrown.stack ?? "");
  const place = places.find((found) => found !== undefined);
  const isComposed = places[0] !== undefined && !isProgramError(thrown) && !isMistake;
  return place === undefined || isComposed ? message : `${message} (${place})`;
}

/**
 * The stack of an error as a programmer reads it: through the tool's own sources, where it leads
 * there.
 */
export function stackOf(error: Error): string {
  const places = placesOf(error.stack ?? "").filter((place) => place !== undefined);
  if (places.length > 0) return places.map((place) => `    at ${place}`).join("\n");
  // Some engines begin it with the message.
  return (error.stack ?? "").replace(`${error.name}: ${error.message}\n`, "");
}

/**
 * The place of each call in a stack, the last call first; none for one outside of the tool's
 * sources.
 */
export function placesOf(stack: string): (string | undefined)[] {
  const places: (string | undefined)[] = [];
  for (const line of stack.split("\n")) {
    // QuickJS writes `    at name (file:line:column)`, or `(native)`; SpiderMonkey
    // `name@file:line:column`.
    const frame = /(?:^\s*at .*?|@[^\s<>]*):(\d+):(\d+)\)?$/.exec(line);
    if (frame && !line.includes("<input>")) places.push(placeOf(Number(frame[1]), Number(frame[2])));
    else if (/^\s*at /.test(line)) places.push(undefined);
  }
  return places;
}

/**
 * Where a function begins, if that is in the tool's own sources. Of the engines, QuickJS knows it.
 */
export function placeOfFunction(value: unknown): string | undefined {
  const found = positionOf(value);
  return found && placeOf(...found);
}

/** Runs `check` on what a function of the tool's returned. What is wrong with that has its place. */
export function blaming<T>(returnedBy: unknown, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    const found = positionOf(returnedBy);
    if (thrown instanceof TypeError && found) thrown.stack = `    at ${(returnedBy as { name: string }).name} (tool.js:${found.join(":")})`;
    throw thrown;
  }
}

function positionOf(value: unknown): [line: number, column: number] | undefined {
  if (typeof value !== "function") return undefined;
  const { lineNumber, columnNumber } = value as { lineNumber?: unknown; columnNumber?: unknown };
  return typeof lineNumber === "number" && typeof columnNumber === "number" ? [lineNumber, columnNumber] : undefined;
}

/** Both from 1. */
function placeOf(line: number, column: number): string | undefined {
  if (!lines) return undefined;
  decoded ??= decode(lines.mappings);
  const segments = decoded[line - 1] ?? [];
  if (column > 1) return nameOf(segments.findLast(([start]) => start < column));
  // QuickJS says 1 where it knows no column: that will do where all of the line comes from one.
  const [place, ...others] = new Set(segments.map(nameOf).filter((name) => name !== undefined));
  return others.length === 0 ? place : undefined;
}

function nameOf(segment: readonly number[] | undefined): string | undefined {
  const [, source, line] = segment ?? [];
  return source === undefined || line === undefined ? undefined : `${lines?.sources[source]}:${line + 1}`;
}
