import { defineTool, type CustomToolAPI } from "airlock-tool";

function depth(of: number): number {
  return depth(of + 1) + 1;
}
const DEPTH = depth(0);

export default (pi: CustomToolAPI) =>
  defineTool({
    name: "mistake",
    label: "Mistake",
    description: "Makes one.",
    parameters: pi.typebox.Type.Object({}),
    async execute() {
      return { content: [{ type: "text", text: `${DEPTH}` }] };
    },
  });
