import { defineTool, type CustomToolAPI } from "airlock-tool";

export default ({ typebox: { Type } }: CustomToolAPI) => {
  defineTool({
    name: "a",
    label: "A",
    description: "Has a mistake.",
    parameters: Type.Object({}),
    execute: async () => ({ content: [] }),
  });
};
