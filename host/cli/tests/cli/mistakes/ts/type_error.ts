import { defineTool, type CustomToolAPI } from "airlock-tool";

export default ({ typebox: { Type } }: CustomToolAPI) =>
  defineTool({
    name: "a",
    label: "A",
    description: "Has a mistake.",
    parameters: Type.Object({ path: Type.String() }),
    async execute(_id, { path }) {
      const length: number = path;
      return { content: [{ type: "text", text: `${length}` }] };
    },
  });
