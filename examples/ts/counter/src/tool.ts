import type { CustomToolFactory } from "airlock-tool";

const factory: CustomToolFactory = (pi) => {
  // In this instance's memory, and gone with it: each session counts on its own.
  let applied = 0;

  return {
    name: "counter",
    label: "Counter",
    description: "Counts what was applied. Previews an increment and defers it to resolve.",
    parameters: pi.typebox.Type.Object(
      { by: pi.typebox.Type.Optional(pi.typebox.Type.Integer({ minimum: 1, description: "How much to add; 1 where left out." })) },
      { additionalProperties: false },
    ),

    async execute(_toolCallId, params) {
      const by: number = params.by ?? 1;
      pi.pushPendingAction({
        label: `Counter: add ${by}`,
        apply: async (reason) => {
          applied += by;
          return { content: [{ type: "text", text: `The counter is at ${applied}. Reason: ${reason}` }], details: { applied } };
        },
        reject: async (reason) => ({
          content: [{ type: "text", text: `The counter stays at ${applied}. Reason: ${reason}` }],
          details: { applied },
        }),
      });
      return { content: [{ type: "text", text: `The counter is at ${applied}, and would be at ${applied + by}.` }], details: { applied } };
    },
  };
};

export default factory;
