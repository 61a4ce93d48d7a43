// Mistakes that show when a tool is called.
import { defineTool, type CustomTool, type CustomToolAPI, type CustomToolContext } from "airlock-tool";

const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

export default ({ typebox: { Type } }: CustomToolAPI) => {
  const tool = (name: string, execute: (ctx: CustomToolContext<object>) => Promise<ReturnType<typeof text>>) =>
    defineTool({
      name,
      label: "Mistake",
      description: "Has a mistake.",
      parameters: Type.Object({}),
      apply: async (_plan: object) => text("Applied."),
      execute: (_id, _params, _onUpdate, ctx) => execute(ctx),
    });
  const push = async (ctx: CustomToolContext<object>) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    ctx.pushPendingAction({ label: "Do it", state: {} });
  };
  return [
    tool("exception", async () => {
      const lines = ["one", "two"];
      return text(lines[2]!.toUpperCase());
    }),
    tool("network", async () => text(await (await fetch("https://example.com")).text())),
    tool("forgotten_push", async () => text("Staged 1 change.")),
    tool("forgotten_await", async (ctx) => {
      push(ctx);
      return text("Staged 1 change.");
    }),
    tool("two_line_label", async (ctx) => {
      ctx.pushPendingAction({ label: "Do it:\nhere", state: {} });
      return text("Would do it.");
    }),
  ];
};
