import { toJson } from "../json.js";
import { decodeUtf8, encodeUtf8 } from "./utf8.js";

/**
 * The state of a durable action, as the host keeps it: one line of JSON that names the tool and the
 * form, and after it the value.
 */
interface Head {
  readonly tool: string;
  readonly form: "json" | "bytes";
}

const LINE_FEED = 10;

export function sealState(tool: string, state: unknown): Uint8Array {
  const bytes = state instanceof Uint8Array;
  const head: Head = { tool, form: bytes ? "bytes" : "json" };
  const line = encodeUtf8(`${JSON.stringify(head)}\n`);
  const body = bytes ? state : encodeUtf8(toJson(state, "the action's state", "state"));
  const sealed = new Uint8Array(line.length + body.length);
  sealed.set(line);
  sealed.set(body, line.length);
  return sealed;
}

export function openState(received: Uint8Array): { tool: string; state: unknown } {
  // StarlingMonkey's bindings have a `Uint8Array` of their own, which is no instance of the
  // program's.
  const sealed = new Uint8Array(received);
  const end = sealed.indexOf(LINE_FEED);
  const head = end < 0 ? undefined : readHead(sealed.subarray(0, end));
  if (!head) throw new Error("the action's state was not written by this SDK, or by another version of it");
  const body = sealed.subarray(end + 1);
  return { tool: head.tool, state: head.form === "bytes" ? body.slice() : JSON.parse(decodeUtf8(body)) };
}

function readHead(line: Uint8Array): Head | undefined {
  try {
    const head = JSON.parse(decodeUtf8(line)) as Partial<Head>;
    const known = typeof head.tool === "string" && (head.form === "json" || head.form === "bytes");
    return known ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}
