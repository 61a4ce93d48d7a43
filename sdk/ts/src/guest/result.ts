import type { Content, ToolResult } from "airlock:tool/types@0.1.0";

import { ToolError } from "../errors.js";
import { isPromise, MISSING_AWAIT, toJson } from "../json.js";

/**
 * What a tool returned, for the host.
 *
 * @param what names the function, for the error
 * @throws {ToolError} with its text, where the result is an error by its own account, as those of
 * MCP can be
 */
export function toWire(returned: unknown, what: string): ToolResult {
  const { content, details, isError } = (typeof returned === "object" && returned !== null ? returned : {}) as Record<string, unknown>;
  if (isPromise(content)) throw new TypeError(`${what} returned a promise as its content: a missing await?`);
  if (!Array.isArray(content)) {
    throw new TypeError(`${what} must return an object with an array \`content\`, for example {content: [{type: "text", text: "…"}]}`);
  }
  const blocks = content.map((block, index) => contentBlock(block, `${what} returned content[${index}]`));
  if (isError) {
    const texts = blocks.flatMap((block) => (block.tag === "text" ? [block.val] : []));
    throw new ToolError(texts.join("\n") || `${what} returned a result that is an error, without a text`);
  }
  if (details === undefined || details === null) return { content: blocks };
  return { content: blocks, details: toJson(details, `the details that ${what} returned`, "details") };
}

function contentBlock(block: unknown, what: string): Content {
  if (isPromise(block)) throw new TypeError(`${what}, which ${MISSING_AWAIT}`);
  if (typeof block !== "object" || block === null) throw new TypeError(`${what}, which is not an object with a \`type\``);
  const fields = block as Record<string, unknown>;
  const text = (name: string): string => {
    const value = fields[name];
    if (isPromise(value)) throw new TypeError(`${what} whose \`${name}\` ${MISSING_AWAIT}`);
    if (typeof value !== "string") throw new TypeError(`${what} without a string \`${name}\``);
    return value.toWellFormed();
  };
  switch (fields.type) {
    case "text":
      return { tag: "text", val: text("text") };
    case "image":
      return { tag: "image", val: { data: imageBytes(fields.data, what), mimeType: text("mimeType") } };
    case "resource_link": {
      const link = { uri: text("uri"), name: text("name") };
      return { tag: "resource-link", val: fields.mimeType === undefined ? link : { ...link, mimeType: text("mimeType") } };
    }
    default:
      throw new TypeError(`${what} of the type ${JSON.stringify(fields.type)}; there are "text", "image" and "resource_link"`);
  }
}

function imageBytes(data: unknown, what: string): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (typeof data !== "string") throw new TypeError(`${what} whose \`data\` is neither a Uint8Array nor a string in base64`);
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    throw new TypeError(`${what} whose \`data\` is not base64`);
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
