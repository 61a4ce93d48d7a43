import { defineTool, type CustomToolFactory, type Resolution } from "airlock-tool";
import { Type } from "airlock-tool/typebox";

import { end, Ending, text } from "./ending.js";

/** What a durable action keeps. */
interface Plan {
  apply: Ending;
  reject?: Ending | undefined;
  pad: string;
}

const APPLIED: Ending = { how: "text", text: "applied" };
const NOTHING: Ending = { how: "nothing" };

const factory: CustomToolFactory = async (pi) => {
  const ended = async (ending: Ending, signal: AbortSignal) => (await end(pi, ending, signal)) ?? { content: [] };
  const applied = async (ending: Ending, resolution: Resolution) => (await end(pi, ending, resolution.signal, resolution)) ?? { content: [] };
  const rejected = (ending: Ending, resolution: Resolution) => end(pi, ending, resolution.signal, resolution);

  return [
    defineTool({
      name: "answer",
      label: "Answer",
      description: "Ends as it is told to.",
      readOnly: true,
      parameters: Type.Object({ end: Ending }),
      execute: (_id, params, _onUpdate, _ctx, signal) => ended(params.end, signal),
    }),

    defineTool({
      name: "stage",
      label: "Stage",
      description: "Pushes a durable action.",
      destructive: true,
      parameters: Type.Object({
        label: Type.String(),
        details: Type.Optional(Type.Unknown()),
        apply: Type.Optional(Ending),
        reject: Type.Optional(Ending),
        pad: Type.Optional(Type.Integer()),
      }),
      apply: (plan: Plan, _reason: string, resolution: Resolution) => applied(plan.apply, resolution),
      reject: (plan: Plan, _reason: string, resolution: Resolution) => rejected(plan.reject ?? NOTHING, resolution),
      execute(_id, { label, details, apply, reject, pad }, _onUpdate, ctx) {
        const state: Plan = { apply: apply ?? APPLIED, reject, pad: "x".repeat(pad ?? 0) };
        ctx.pushPendingAction({ label, details, sourceToolName: "stage", state });
        return text(`staged ${label}`);
      },
    }),

    defineTool({
      name: "stage_quietly",
      label: "Stage quietly",
      description: "Pushes a durable action that nobody hears of when it is discarded.",
      parameters: Type.Object({ label: Type.String(), apply: Type.Optional(Ending) }),
      apply: (ending: Ending, _reason: string, resolution: Resolution) => applied(ending, resolution),
      execute(_id, { label, apply }, _onUpdate, ctx) {
        ctx.pushPendingAction({ label, sourceToolName: "stage_quietly", state: apply ?? APPLIED });
        return text(`staged ${label}`);
      },
    }),

    defineTool({
      name: "hold",
      label: "Hold",
      description: "Pushes volatile actions.",
      parameters: Type.Object({
        actions: Type.Array(
          Type.Object({
            label: Type.String(),
            source: Type.Optional(Type.String()),
            details: Type.Optional(Type.Unknown()),
            unwritable: Type.Optional(Type.Boolean()),
            apply: Type.Optional(Ending),
            reject: Type.Optional(Ending),
          }),
        ),
        catch: Type.Optional(Type.Boolean()),
      }),
      async execute(_id, params) {
        const ids: string[] = [];
        const lines: string[] = [];
        for (const { label, source, details, unwritable, apply, reject } of params.actions) {
          const circle: { self?: unknown } = {};
          circle.self = circle;
          try {
            ids.push(
              pi.pushPendingAction({
                label,
                details: unwritable ? circle : details,
                ...(source !== undefined && { sourceToolName: source }),
                apply: (_reason, resolution) => applied(apply ?? APPLIED, resolution),
                ...(reject && { reject: (_reason: string, resolution: Resolution) => rejected(reject, resolution) }),
              }),
            );
            lines.push(`pushed ${label}`);
          } catch (thrown) {
            if (!params.catch) throw thrown;
            lines.push(`refused: ${(thrown as Error).message}`);
          }
        }
        return { ...text(...lines), details: { ids } };
      },
    }),

    defineTool({
      name: "surroundings",
      label: "Surroundings",
      description: "Tells of the session.",
      readOnly: true,
      parameters: Type.Object({}),
      execute(_id, _params, _onUpdate, { session }) {
        return { content: [], details: session && { ...session, workspace: session.workspace ?? null } };
      },
    }),

    defineTool({
      name: "whisper",
      label: "Whisper",
      description: "Says it louder.",
      hidden: true,
      readOnly: true,
      parameters: Type.Object({ text: Type.String() }),
      execute: (_id, params) => text(params.text.toUpperCase()),
    }),
  ];
};

export default factory;
