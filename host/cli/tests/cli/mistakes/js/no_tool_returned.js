import { defineTool } from "airlock-tool";

export default ({ typebox: { Type } }) => {
  defineTool({
    name: "a",
    label: "A",
    description: "Has a mistake.",
    parameters: Type.Object({}),
    execute: async () => ({ content: [] }),
  });
};
