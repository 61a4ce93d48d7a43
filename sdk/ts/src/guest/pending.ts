import { pushPendingAction, type PendingAction, type PushError as WirePushError } from "airlock:tool/pending-actions@0.1.0";

import { PushError } from "../errors.js";
import { isPromise, MISSING_AWAIT, toJson } from "../json.js";
import type { CustomTool, CustomToolPendingAction, VolatilePendingAction } from "../types.js";
import { sealState } from "./state.js";

/** The closures of the volatile actions that this instance pushed, by id. */
const closures = new Map<string, VolatilePendingAction>();

export function closuresOf(id: string): VolatilePendingAction | undefined {
  return closures.get(id);
}

export function forget(id: string): void {
  closures.delete(id);
}

/** Pushes an action of `tool`, which is the one that is running. */
export function push(action: CustomToolPendingAction<unknown>, tool: CustomTool | undefined): string {
  const { label, sourceToolName = tool?.name, details } = action;
  if (typeof label !== "string") throw new TypeError(`a pending action needs a \`label\`, which says what would happen${isPromise(label) ? `; this one ${MISSING_AWAIT}` : ""}`);
  if (sourceToolName !== undefined && typeof sourceToolName !== "string") throw new TypeError("`sourceToolName` of a pending action must be a string");
  const wire: PendingAction = {
    label: label.toWellFormed(),
    hasReject: false,
    ...(sourceToolName !== undefined && { sourceToolName: sourceToolName.toWellFormed() }),
    ...(details !== undefined && { details: toJson(details, "the action's details", "details") }),
  };
  if (action.state !== undefined) return pushDurable(action.state, wire, tool);
  if (typeof action.apply !== "function") throw new TypeError("a pending action needs either a function `apply`, or a `state` for the tool's own `apply`");
  const id = send({ ...wire, hasReject: typeof action.reject === "function" });
  closures.set(id, action as VolatilePendingAction);
  return id;
}

function pushDurable(state: unknown, wire: PendingAction, tool: CustomTool | undefined): string {
  if (!tool) throw new Error("an action with a `state` belongs to a tool: push it from within `execute`");
  if (!tool.apply) throw new Error(`tool "${tool.name}" pushed an action with a \`state\`, and has no \`apply\` to give it to`);
  return send({ ...wire, hasReject: tool.reject !== undefined, state: sealState(tool.name, state) });
}

function send(action: PendingAction): string {
  try {
    return pushPendingAction(action);
  } catch (thrown) {
    const refused = (thrown as { payload?: WirePushError }).payload;
    if (!refused) throw thrown;
    throw new PushError(refused.tag, refused.val);
  }
}
