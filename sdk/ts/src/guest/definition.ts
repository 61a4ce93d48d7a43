import type { ToolDefinition } from "airlock:tool/types@0.1.0";

import { messageOf } from "../errors.js";
import { isPromise, MISSING_AWAIT } from "../json.js";
import { jsonSchema } from "../schema.js";
import type { CustomTool } from "../types.js";
import { located, placeOfFunction } from "./places.js";

/**
 * Something in the place of a tool that is none. The plugin's other tools can be used all the same.
 */
export class NoTool {
  constructor(
    readonly name: string,
    readonly reason: string,
  ) {}

  /**
   * As the host is told of it: it leaves the tool out, with the reason, where the schema is a text.
   */
  get definition(): ToolDefinition {
    const traits = { hidden: false, deferrable: false, readOnly: false, destructive: false, idempotent: false, openWorld: false };
    return { name: this.name.toWellFormed(), label: "", description: "", parameters: JSON.stringify(this.reason.toWellFormed()), traits };
  }
}

/** What a host is told where there is no tool at all. */
export function noTools(thrown: unknown): NoTool {
  return new NoTool("default export", thrown instanceof NoFactory ? thrown.message : `the factory failed: ${located(thrown, messageOf(thrown))}`);
}

/** The default export makes no tools. */
export class NoFactory extends TypeError {}

/** The tools that a plugin's default export makes, and what it made in their place. */
export async function makeTools<Api>(factory: unknown, api: Api): Promise<(CustomTool | NoTool)[]> {
  if (typeof factory !== "function") {
    const what = factory === undefined ? "missing" : kindOf(factory);
    throw new NoFactory(`it is ${what}, and must be a function that gets \`pi\` and returns the tool: \`export default factory\``);
  }
  const made: unknown = await (factory as (api: Api) => unknown)(api);
  const place = placeOfFunction(factory);
  const at = place === undefined ? "" : ` (${place})`;
  if (!Array.isArray(made)) return [checked(made, "what the factory returned", at)];
  if (made.length === 0) throw new NoFactory(`the factory returned an empty array instead of tools${at}`);
  return made.map((tool, index) => checked(tool, `[${index}] of what the factory returned`, at));
}

/** @param at stands behind what is said of something that has no place of its own */
function checked(tool: unknown, place: string, at: string): CustomTool | NoTool {
  if (isPromise(tool)) return new NoTool(place, `it ${MISSING_AWAIT}${at}`);
  if (typeof tool !== "object" || tool === null) return new NoTool(place, `${tool === undefined ? "it is undefined: a missing return?" : `it is not a tool but ${kindOf(tool)}`}${at}`);
  const { name, label, description, parameters, execute, apply, reject } = tool as Record<keyof CustomTool, unknown>;
  const texts = { name, label, description };
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text !== "string") return new NoTool(typeof name === "string" ? name : place, `its \`${field}\` ${lack(text, "a text")}`);
  }
  const reason = (text: string) => new NoTool(name as string, text);
  if (isPromise(parameters) || !isSchema(parameters)) {
    return reason(`its \`parameters\` ${lack(parameters, "a schema")}: for example pi.typebox.Type.Object({})`);
  }
  if (typeof execute !== "function") return reason(`its \`execute\` ${lack(execute, "a function")}`);
  for (const [field, handler] of Object.entries({ apply, reject })) {
    if (handler !== undefined && typeof handler !== "function") return reason(`its \`${field}\` ${lack(handler, "a function")}`);
  }
  return tool as CustomTool;
}

/** ArkType's schemas are functions. */
function isSchema(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || (typeof value === "function" && "~standard" in value);
}

function lack(value: unknown, expected: string): string {
  if (value === undefined) return `is missing; it must be ${expected}`;
  if (isPromise(value)) return MISSING_AWAIT;
  return `is ${kindOf(value)}; it must be ${expected}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** A tool as the host presents it. */
export function definitionOf(tool: CustomTool | NoTool): ToolDefinition {
  if (tool instanceof NoTool) return tool.definition;
  try {
    return described(tool);
  } catch (thrown) {
    return new NoTool(tool.name, located(thrown, messageOf(thrown))).definition;
  }
}

function described(tool: CustomTool): ToolDefinition {
  const definition: ToolDefinition = {
    name: tool.name.toWellFormed(),
    label: tool.label.toWellFormed(),
    description: tool.description.toWellFormed(),
    parameters: jsonSchema(tool.parameters, "input", "its parameters"),
    traits: {
      hidden: Boolean(tool.hidden),
      deferrable: Boolean(tool.deferrable ?? !tool.readOnly),
      readOnly: Boolean(tool.readOnly),
      destructive: Boolean(tool.destructive),
      idempotent: Boolean(tool.idempotent),
      openWorld: Boolean(tool.openWorld),
    },
  };
  return tool.output ? { ...definition, output: jsonSchema(tool.output, "output", "its output") } : definition;
}
