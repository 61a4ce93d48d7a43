// Mistakes that show when a tool is called.
import { defineTool } from "airlock-tool";
import { writeFile } from "airlock-tool/fs";

const text = (text) => ({ content: [{ type: "text", text }] });

export default ({ typebox: { Type } }) => {
  const tool = (name, execute) =>
    defineTool({
      name,
      label: "Mistake",
      description: "Has a mistake.",
      parameters: Type.Object({}),
      apply: async () => text("Applied."),
      execute,
    });
  const push = async (ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    ctx.pushPendingAction({ label: "Do it", state: {} });
  };
  return [
    tool("type_error", async () => {
      const lines = undefined;
      return text(lines.length);
    }),
    tool("wrong_text", async () => text(["one", "two"].length)),
    tool("missing_return", async () => {
      text("Answered.");
    }),
    tool("exception", async () => {
      throw new RangeError("there is no third line");
    }),
    tool("network", async () => text(await (await fetch("https://example.com")).text())),
    tool("forgotten_push", async () => {
      void { label: "Do it", state: {} };
      return text("Staged 1 change.");
    }),
    tool("forgotten_await", async (_id, _params, _onUpdate, ctx) => {
      push(ctx);
      return text("Staged 1 change.");
    }),
    tool("forgotten_await_of_write", async () => {
      writeFile("notes.txt", "text");
      return text("Written.");
    }),
    tool("promise_as_text", async () => text(Promise.resolve("Answered."))),
    tool("two_line_label", async (_id, _params, _onUpdate, ctx) => {
      ctx.pushPendingAction({ label: "Do it:\nhere", state: {} });
      return text("Would do it.");
    }),
  ];
};
