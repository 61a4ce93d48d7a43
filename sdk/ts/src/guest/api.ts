import { log, reportProgress, session, type Level } from "airlock:tool/host@0.1.0";

import type * as module from "../typebox.js";
import type { AgentToolResult, CustomTool, CustomToolAPI, CustomToolContext, Session } from "../types.js";
import { describeValues } from "./describe.js";
import { push } from "./pending.js";

/** What `pi.typebox` is. The build leaves it out where no source names it. */
let typebox: typeof module | undefined;

export function provideTypeBox(provided: typeof module): void {
  typebox = provided;
}

/** The packages of the project's own that `pi` has. The build takes those that a source names, and that are installed. */
const packages: { zod?: unknown; arktype?: unknown } = {};

export function providePackage(name: keyof typeof packages, provided: unknown): void {
  packages[name] = provided;
}

function packageNamed(name: keyof typeof packages): unknown {
  if (packages[name] === undefined) throw new Error(`\`pi.${name}\` is the package ${name}, which this project has not installed: npm install ${name}`);
  return packages[name];
}

/** The tool that is running. */
let running: CustomTool | undefined;

export async function whileRunning<T>(tool: CustomTool, work: () => T): Promise<Awaited<T>> {
  running = tool;
  try {
    return await work();
  } finally {
    running = undefined;
  }
}

const surroundings = {
  cwd: "/workspace",
  hasUI: false,
  get session(): Session | undefined {
    const info = session();
    return info ? { id: info.id, workspace: info.workspace ?? undefined, hasPendingStore: info.hasPendingStore } : undefined;
  },
  pushPendingAction: (action: Parameters<typeof push>[0]) => push(action, running),
  reportProgress(message: string, progress?: number, total?: number): void {
    // In JavaScript they may be anything, and what is no number would end the instance.
    const number = (value: number | undefined) => (value === undefined ? undefined : Number(value));
    reportProgress(String(message).toWellFormed(), number(progress), number(total));
  },
} as const;

export const api: CustomToolAPI = Object.defineProperties(
  {
    get typebox() {
      if (!typebox) throw new Error("`pi.typebox` was left out of this component, since none of its sources names `typebox`");
      return typebox;
    },
    get zod() {
      return packageNamed("zod");
    },
    get arktype() {
      return packageNamed("arktype");
    },
    logger: logger(),
    exec: (command: string) => Promise.reject(new Error(`\`${command}\` can't be run: there are no commands in the sandbox`)),
  },
  Object.getOwnPropertyDescriptors(surroundings),
) as unknown as CustomToolAPI;

export function contextFor(tool: CustomTool): CustomToolContext {
  return Object.defineProperties({ toolName: tool.name }, Object.getOwnPropertyDescriptors(surroundings)) as unknown as CustomToolContext;
}

/** The text of a partial result, as progress. */
export function onUpdate(partial: AgentToolResult): void {
  const texts = (partial?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (texts.length > 0) surroundings.reportProgress(texts.join("\n"));
}

function logger(): CustomToolAPI["logger"] {
  const at = (level: Level) => (...values: unknown[]) => log(level, describeValues(values));
  return { trace: at("trace"), debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
