import { ToolError, type Resolution } from "airlock-tool";
import { FileError, lstat, rename } from "airlock-tool/fs";

export interface Rename {
  from: string;
  to: string;
}

/** The renames of those of `files` whose names change. */
export function planRenames(files: readonly string[], find: RegExp, replace: string): Rename[] {
  const plan = [...new Set(files)].map((from) => ({ from, to: renamed(from, find, replace) })).filter(({ from, to }) => from !== to);
  const sources = new Map<string, string>();
  for (const { from, to } of plan) {
    const other = sources.get(to);
    if (other !== undefined) throw new ToolError(`${other} and ${from} would both become ${to}.`);
    sources.set(to, from);
  }
  return plan;
}

function renamed(path: string, find: RegExp, replace: string): string {
  const start = path.lastIndexOf("/") + 1;
  const name = path.slice(start).replace(find, replace);
  if (name === "" || name === "." || name === ".." || name.includes("/")) throw new ToolError(`${path} would become ${JSON.stringify(name)}, which is no file name.`);
  return path.slice(0, start) + name;
}

/** Renames all files, or none: what was done before a failure is taken back. */
export async function renameAll(plan: readonly Rename[], { attempt, signal }: Resolution, progress: (message: string, done: number, of: number) => void): Promise<void> {
  const done: Rename[] = [];
  try {
    for (const step of plan) {
      signal.throwIfAborted();
      // An earlier attempt may have come this far before it was interrupted.
      const alreadyDone = attempt > 1 && !(await isThere(step.from)) && (await isThere(step.to));
      if (!alreadyDone) {
        if (await isThere(step.to)) throw new ToolError(`${step.to} has appeared since the preview: discard this, and preview again.`);
        await rename(step.from, step.to);
      }
      done.push(step);
      progress("Renaming", done.length, plan.length);
    }
  } catch (thrown) {
    for (const { from, to } of done.reverse()) await rename(to, from);
    throw thrown;
  }
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if (thrown instanceof FileError && thrown.code === "ENOENT") return false;
    throw thrown;
  }
}
