import { defineTool, ToolError, type CustomToolFactory, type Resolution } from "airlock-tool";

import { isThere, planRenames, renameAll, type Rename } from "./plan.js";

const factory: CustomToolFactory = (pi) => {
  const { Type } = pi.typebox;

  return defineTool({
    name: "rename_preview",
    label: "Batch Rename Preview",
    description: "Previews renames of files by a regular expression, and defers them to resolve.",
    destructive: true,
    parameters: Type.Object(
      {
        files: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description: "Paths relative to the workspace." }),
        find: Type.String({ minLength: 1, description: "A regular expression in JavaScript's syntax, searched in each file's name." }),
        replace: Type.String({ description: "What to put in the place of each match; $1 is the first group." }),
      },
      { additionalProperties: false },
    ),

    // The plan waits with the action, so that any instance can carry it out, also on another day.
    async apply(plan: Rename[], reason: string, resolution: Resolution) {
      await renameAll(plan, resolution, pi.reportProgress);
      return { content: [{ type: "text", text: `Renamed ${plan.length} files. Reason: ${reason}` }], details: { renamed: plan.length } };
    },

    async execute(_toolCallId, { files, find, replace }, _onUpdate, ctx) {
      const plan = planRenames(files, expression(find), replace);
      for (const { from, to } of plan) {
        if (!(await isThere(from))) throw new ToolError(`There is no file ${from}.`);
        if (await isThere(to)) throw new ToolError(`${from} would overwrite ${to}.`);
      }
      if (plan.length === 0) return { content: [{ type: "text", text: "No name would change." }] };
      ctx.pushPendingAction({ label: `Batch rename: ${plan.length} files`, state: plan, details: plan });
      const lines = plan.map(({ from, to }) => `${from} -> ${to}`);
      return { content: [{ type: "text", text: `Prepared rename plan for ${plan.length} files.\n\n${lines.join("\n")}` }] };
    },
  });
};

function expression(find: string): RegExp {
  try {
    return new RegExp(find, "gu");
  } catch (thrown) {
    throw new ToolError(`\`find\` is no regular expression: ${(thrown as Error).message}`);
  }
}

export default factory;
