import { defineTool, type CustomToolAPI } from "airlock-tool";

const MODE: string = "none";
if (MODE === "none") throw "no mode is set";

export default (pi: CustomToolAPI) =>
  defineTool({
    name: "mistake",
    label: "Mistake",
    description: "Makes one.",
    parameters: pi.typebox.Type.Object({}),
    async execute() {
      return { content: [{ type: "text", text: MODE }] };
    },
  });
