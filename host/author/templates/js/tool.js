// The tool {{tool}}: adds a line to a file, once somebody agreed.
import { defineTool, ToolError } from "airlock-tool";
import { readFile, writeFile } from "airlock-tool/fs";

/**
 * What waits for a decision: enough to notice that the file has changed since.
 * @typedef {object} Plan
 * @property {string} path
 * @property {string} before
 * @property {string} after
 */

/** @param {import("airlock-tool").CustomToolAPI} pi */
export default ({ typebox: { Type } }) =>
  defineTool({
    name: "{{tool}}",
    label: "{{label}}",
    description: "Adds a line at the end of a file.",
    idempotent: true,
    parameters: Type.Object(
      {
        path: Type.String({ description: "The file's path, relative to the workspace." }),
        line: Type.String({ description: "The line to add." }),
      },
      { additionalProperties: false },
    ),

    /**
     * @param {Plan} plan
     * @param {string} reason
     */
    async apply(plan, reason) {
      const now = await read(plan.path);
      // An attempt before this one may have done it already.
      if (now !== plan.after) {
        if (now !== plan.before) throw new ToolError(`${plan.path} changed since the preview: preview again.`);
        await writeFile(plan.path, plan.after);
      }
      return { content: [{ type: "text", text: `Added a line to ${plan.path}. Reason: ${reason}` }] };
    },

    async execute(_toolCallId, { path, line }, _onUpdate, ctx) {
      const before = await read(path);
      const plan = { path, before, after: `${before}${line}\n` };
      ctx.pushPendingAction({ label: `{{label}}: ${path}`, state: plan });
      return { content: [{ type: "text", text: `Would add to ${path}: ${line}` }] };
    },
  });

/**
 * @param {string} path
 * @returns {Promise<string>}
 */
async function read(path) {
  try {
    // What is no text is refused, since it would be written back as something else.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (thrown) {
    throw new ToolError(`can't read ${path}: ${/** @type {Error} */ (thrown).message}`);
  }
}
