import { log } from "airlock:tool/host@0.1.0";
import type { Resolution as WireResolution } from "airlock:tool/resolver@0.1.0";
import type { ToolDefinition, ToolError as WireError, ToolResult } from "airlock:tool/types@0.1.0";

import { messageOf, ToolError } from "../errors.js";
import { readParams } from "../schema.js";
import type { CustomTool, Resolution } from "../types.js";
import { api, contextFor, onUpdate, whileRunning } from "./api.js";
import { Cancellation } from "./cancellation.js";
import { definitionOf, makeTools, noTools, NoTool } from "./definition.js";
import { describeValues } from "./describe.js";
import { closuresOf, forget } from "./pending.js";
import { blaming, located } from "./places.js";
import { toWire } from "./result.js";
import { openState } from "./state.js";

/**
 * How an engine gets from a promise to its value: at once where nobody awaits what an export
 * returns.
 */
export interface Engine {
  call<T>(what: string, work: () => Promise<T>): T | Promise<T>;
}

/** The exports of the component whose tools `factory` makes. */
export function serve(factory: unknown, engine: Engine) {
  let made: ReturnType<typeof makeTools> | undefined;
  // Lazily, so that a factory runs in the session that it belongs to, and not while the component
  // is built.
  const tools = () => (made ??= makeTools(factory, api));
  const find = async (name: string): Promise<CustomTool> => {
    const all = await tools();
    const tool = all.find((candidate) => candidate.name === name);
    if (tool instanceof NoTool) throw new Error(`tool "${name}" can't be used: ${tool.reason}`);
    if (!tool) throw new Error(`this plugin has no tool "${name}"; it has ${all.map((candidate) => `"${candidate.name}"`).join(", ")}`);
    return tool;
  };
  const answer = <T>(what: string, work: (cancellation: Cancellation) => Promise<T>): T | Promise<T> => {
    const cancellation = Cancellation.begin();
    return guarded(cancellation, () => engine.call(what, () => work(cancellation)));
  };

  return {
    tool: {
      definitions: (): ToolDefinition[] | Promise<ToolDefinition[]> => {
        // An error that left this function would be a trap, and nobody could read the reason.
        const failed = (thrown: unknown) => [definitionOf(noTools(thrown))];
        return caught(() => engine.call("the factory", async () => (await tools()).map(definitionOf)), failed);
      },

      execute: (callId: string, name: string, params: string): ToolResult | Promise<ToolResult> =>
        answer(`execute of tool "${name}"`, async (cancellation) => {
          const tool = await find(name);
          const read = await readParams(tool.parameters, JSON.parse(params));
          const work = () => tool.execute(callId, read as never, onUpdate, contextFor(tool), cancellation.signal);
          const returned = await whileRunning(tool, work);
          return blaming(tool.execute, () => toWire(returned, `execute of tool "${name}"`));
        }),
    },

    resolver: {
      apply: (wire: WireResolution): ToolResult | Promise<ToolResult> =>
        answer("apply", async (cancellation) => {
          const { apply, what, functions } = await handlersOf(wire, find);
          const result = await apply(resolutionOf(wire, cancellation));
          // What was applied is applied: without a result there is just nothing to say about it.
          const said = result === undefined ? { content: [] } : blaming(functions.apply, () => toWire(result, `apply of ${what}`));
          // Not before: after an error the action is pending again, and needs its closures.
          forget(wire.actionId);
          return said;
        }),

      reject: (wire: WireResolution): ToolResult | undefined | Promise<ToolResult | undefined> =>
        answer("reject", async (cancellation) => {
          const { reject, what, functions } = await handlersOf(wire, find);
          forget(wire.actionId);
          const result = await reject?.(resolutionOf(wire, cancellation));
          return result === undefined ? undefined : blaming(functions.reject, () => toWire(result, `reject of ${what}`));
        }),
    },
  };
}

interface Handlers {
  /** For errors. */
  readonly what: string;
  /** The tool's own, for their places. */
  readonly functions: { readonly apply: unknown; readonly reject: unknown };
  readonly apply: (resolution: Resolution) => unknown;
  readonly reject?: ((resolution: Resolution) => unknown) | undefined;
}

async function handlersOf(wire: WireResolution, find: (name: string) => Promise<CustomTool>): Promise<Handlers> {
  if (wire.state === undefined || wire.state === null) {
    const closures = closuresOf(wire.actionId);
    if (!closures) throw new Error(`this instance did not push the action ${wire.actionId}, so it has no closures for it`);
    return {
      what: `the action "${wire.label}"`,
      functions: { apply: closures.apply, reject: closures.reject },
      apply: (resolution) => closures.apply(wire.reason, resolution),
      reject: closures.reject && ((resolution) => closures.reject?.(wire.reason, resolution)),
    };
  }
  const { tool: name, state } = openState(wire.state);
  const tool = await find(name);
  return {
    what: `tool "${name}"`,
    functions: { apply: tool.apply, reject: tool.reject },
    apply: (resolution) => {
      if (!tool.apply) throw new Error(`tool "${name}" has no \`apply\``);
      return whileRunning(tool, () => tool.apply?.(state, wire.reason, resolution));
    },
    reject: (resolution) => whileRunning(tool, () => tool.reject?.(state, wire.reason, resolution)),
  };
}

function resolutionOf(wire: WireResolution, cancellation: Cancellation): Resolution {
  const { actionId, label, sourceToolName, reason, extra, attempt } = wire;
  return {
    actionId,
    label,
    sourceToolName,
    reason,
    extra: typeof extra === "string" ? (JSON.parse(extra) as Record<string, unknown>) : undefined,
    attempt,
    get signal() {
      return cancellation.signal;
    },
  };
}

/** Whatever is thrown becomes an error of the world: anything else would end the instance. */
function guarded<T>(cancellation: Cancellation, work: () => T | Promise<T>): T | Promise<T> {
  return caught(work, (thrown) => {
    throw wireError(thrown, cancellation);
  });
}

function caught<T>(work: () => T | Promise<T>, failed: (thrown: unknown) => T): T | Promise<T> {
  try {
    const result = work();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (thrown) {
    return failed(thrown);
  }
}

function wireError(thrown: unknown, cancellation: Cancellation): WireError {
  const message = messageOf(thrown).toWellFormed();
  if (thrown instanceof ToolError) return { tag: "tool", val: message };
  const aborted = typeof thrown === "object" && thrown !== null && (thrown as { name?: unknown }).name === "AbortError";
  if (aborted && cancellation.ask()) return { tag: "cancelled" };
  log("error", describeValues([thrown]));
  return { tag: "failed", val: located(thrown, message).toWellFormed() };
}
