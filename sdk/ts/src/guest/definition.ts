import type { ToolDefinition } from "airlock:tool/types@0.1.0";

import { jsonSchema } from "../schema.js";
import type { CustomTool } from "../types.js";

/** A tool as the host presents it. */
export function definitionOf(tool: CustomTool): ToolDefinition {
  const what = `tool ${JSON.stringify(tool.name)}`;
  const definition: ToolDefinition = {
    name: wellFormed(tool.name, `${what}: name`),
    label: wellFormed(tool.label, `${what}: label`),
    description: wellFormed(tool.description, `${what}: description`),
    parameters: jsonSchema(tool.parameters, "input", `${what}: parameters`),
    traits: {
      hidden: Boolean(tool.hidden),
      deferrable: Boolean(tool.deferrable ?? !tool.readOnly),
      readOnly: Boolean(tool.readOnly),
      destructive: Boolean(tool.destructive),
      idempotent: Boolean(tool.idempotent),
      openWorld: Boolean(tool.openWorld),
    },
  };
  return tool.output ? { ...definition, output: jsonSchema(tool.output, "output", `${what}: output`) } : definition;
}

function wellFormed(text: unknown, what: string): string {
  if (typeof text !== "string") throw new TypeError(`${what} must be a string, and is ${text === undefined ? "missing" : `a ${typeof text}`}`);
  return text.toWellFormed();
}

/** The tools that a plugin's default export makes. */
export function checkTools(made: unknown): CustomTool[] {
  const tools = Array.isArray(made) ? made : [made];
  for (const [index, tool] of tools.entries()) {
    const place = Array.isArray(made) ? `tool ${index} of the factory's array` : "what the factory returned";
    if (typeof tool !== "object" || tool === null) throw new TypeError(`${place} is no tool, but ${tool === null ? "null" : `a ${typeof tool}`}`);
    const { name, parameters, execute, apply, reject } = tool as Partial<CustomTool>;
    const who = typeof name === "string" ? `tool "${name}"` : place;
    if (typeof parameters !== "object" || parameters === null) throw new TypeError(`${who} has no \`parameters\`: give a schema, for example pi.typebox.Type.Object({})`);
    if (typeof execute !== "function") throw new TypeError(`${who} has no function \`execute\``);
    for (const [field, handler] of [["apply", apply], ["reject", reject]] as const) {
      if (handler !== undefined && typeof handler !== "function") throw new TypeError(`${who}: \`${field}\` is no function`);
    }
  }
  return tools as CustomTool[];
}
