import { abort, ToolError, type CustomToolFactory } from "airlock-tool";

/** Each way in which a call can fail. */
const WAYS: Record<string, (signal: AbortSignal) => unknown> = {
  "tool-error": () => {
    throw new ToolError("said by the tool on purpose");
  },
  failed: () => {
    throw new Error("something that the tool did not expect");
  },
  "type-error": () => (undefined as unknown as { length: number }).length,
  string: () => {
    throw "a string, and no error";
  },
  nothing: () => {
    throw undefined;
  },
  "rejected-promise": () => Promise.reject(new Error("a promise was rejected")),
  "timer-error": () =>
    new Promise((_, reject) => {
      setTimeout(() => reject(new Error("a timer came to a bad end")), 10);
    }),
  "never-settled": () => new Promise(() => {}),
  "no-result": () => undefined,
  "bad-content": () => ({ content: [{ type: "video" }] }),
  "bad-details": () => ({ content: [], details: new Map([["a", "map has no form in JSON"]]) }),
  fetch: () => fetch("https://example.com/"),
  exit: () => abort("the tool ended itself"),
  loop: () => {
    for (;;);
  },
  wait: () => new Promise((resolve) => setTimeout(resolve, 24 * 60 * 60 * 1000)),
  memory: () => {
    const kept: Uint8Array[] = [];
    for (;;) kept.push(new Uint8Array(1024 * 1024));
  },
  recursion: () => {
    const deeper = (depth: number): number => 1 + deeper(depth + 1);
    return deeper(0);
  },
};

const factory: CustomToolFactory = (pi) => {
  const ways = Object.keys(WAYS);
  const parameters = pi.typebox.Type.Object(
    {
      how: pi.typebox.Type.String({ enum: ways }),
      when: pi.typebox.Type.Optional(pi.typebox.Type.String({ enum: ["execute", "apply"], description: "execute, or while the action that it pushes is applied." })),
    },
    { additionalProperties: false },
  );
  const fail = async (how: string, signal: AbortSignal) => (await WAYS[how]?.(signal)) as never;

  return {
    name: "failures",
    label: "Failures",
    description: "Fails in every way that a tool can.",
    parameters,
    execute: async (_toolCallId, { how, when }, _onUpdate, _ctx, signal) => {
      if (when !== "apply") return fail(how, signal);
      pi.pushPendingAction({
        label: `Fail: ${how}`,
        apply: (_reason, resolution) => fail(how, resolution.signal),
      });
      return { content: [{ type: "text", text: `Would fail: ${how}` }] };
    },
  };
};

export default factory;
