import { abort, ToolError, type AgentToolResult, type CustomToolAPI, type Resolution, type Static } from "airlock-tool";
import { glob, matchesGlob, stat, writeFile } from "airlock-tool/fs";
import { Type } from "airlock-tool/typebox";

/** How a call ends. */
export const Ending = Type.Object({
  how: Type.String(),
  text: Type.Optional(Type.String()),
  times: Type.Optional(Type.Integer()),
  details: Type.Optional(Type.Unknown()),
  attempt: Type.Optional(Type.Integer()),
});
export type Ending = Static<typeof Ending>;

/** What the endings count. */
let count = 0;

export function text(...texts: string[]): AgentToolResult {
  return { content: texts.map((text) => ({ type: "text", text })) };
}

/** Ends a call as `ending` says; none where there is no result. */
export async function end(pi: CustomToolAPI, ending: Ending, signal: AbortSignal, resolution?: Resolution): Promise<AgentToolResult | undefined> {
  const said = ending.text ?? "";
  const asText = () => ({ ...text(said.repeat(ending.times ?? 1)), details: ending.details });
  switch (ending.how) {
    case "text":
      return asText();
    case "blocks":
      return {
        content: [
          { type: "text", text: said },
          { type: "image", data: Uint8Array.from({ length: 256 }, (_, byte) => byte), mimeType: "image/png" },
          { type: "resource_link", uri: "file:///workspace/report.html", name: "report", mimeType: "text/html" },
        ],
      };
    case "nothing":
      return undefined;
    case "tool-error":
      throw new ToolError(said);
    case "failed":
      throw new Error(said);
    case "crash":
      return abort("told to crash");
    case "wait":
      pi.reportProgress("waiting");
      for (;;) signal.throwIfAborted();
    case "flaky": {
      const attempt = resolution?.attempt ?? 1;
      if (attempt < (ending.attempt ?? 1)) throw new Error(`attempt ${attempt} fails`);
      return asText();
    }
    case "resolution": {
      if (!resolution) return undefined;
      const { actionId, label, sourceToolName, reason, extra, attempt } = resolution;
      return { content: [], details: { actionId, label, sourceToolName, reason, extra: extra ?? null, attempt } };
    }
    case "report":
      for (const level of ["trace", "debug", "info", "warn", "error"] as const) pi.logger[level](`${/^[aeiou]/.test(level) ? "an" : "a"} ${level}`);
      pi.reportProgress("half", 1, 2);
      pi.reportProgress("some");
      return asText();
    case "count":
      return text(String(++count));
    case "push":
      pi.pushPendingAction({ label: said, apply: () => ({ content: [] }) });
      return text(`pushed ${said}`);
    case "vary": {
      await writeFile("varied", "");
      const { mtimeMs } = await stat("varied");
      await writeFile("varied", `${Math.random()} ${Math.random()} ${Date.now()} ${mtimeMs}`);
      return asText();
    }
    case "glob": {
      const paths = ending.details as string[] | undefined;
      return { content: [], details: paths ? paths.filter((path) => matchesGlob(said, path)) : await glob(said) };
    }
    default:
      throw new ToolError(`no such ending: ${ending.how}`);
  }
}
