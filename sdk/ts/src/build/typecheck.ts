import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { BuildError, fail, type Problem } from "./problem.js";
import type { Project } from "./project.js";

/** What a project without a tsconfig.json is checked with. */
const DEFAULTS = fileURLToPath(new URL("../../tsconfig.tool.json", import.meta.url));
const LINE = /^(?<file>[^(]+)\((?<line>\d+),(?<column>\d+)\): error (?<message>TS\d+: .*)$/;

/** @throws {BuildError} with each error of the compiler */
export async function checkTypes(project: Project): Promise<void> {
  const output = project.tsconfig ? await compile(project, project.tsconfig) : await compileWithDefaults(project);
  if (output === undefined) return;
  const problems: Problem[] = [];
  for (const line of output.split(/\r?\n/)) {
    const groups = LINE.exec(line)?.groups;
    const last = problems.at(-1);
    if (groups?.message) problems.push({ stage: "types", message: groups.message, ...place(groups) });
    // An indented line goes on with the error above it.
    else if (last && line.startsWith("  ")) problems[problems.length - 1] = { ...last, message: `${last.message}\n${line}` };
    else if (line.trim()) problems.push({ stage: "types", message: line.replace(/^error /, "") });
  }
  throw new BuildError(problems.length > 0 ? problems.map(withHelp) : [{ stage: "types", message: "tsc failed without a message" }]);
}

const NO_RESULT = 'end each path of the function with a result: return { content: [{ type: "text", text: "…" }] }';
const OF_ANOTHER_TYPE = "convert the value, or change the type that is declared where it goes to";

/** Nothing where the compiler's words have to do. */
function withHelp(problem: Problem): Problem {
  const { message } = problem;
  if (/^TS(2355|2366|7030):|Type '(void|undefined)' is not assignable to type 'AgentToolResult/.test(message)) return { ...problem, help: NO_RESULT };
  if (message.startsWith("TS2304:")) return { ...problem, help: "import it at the top of the file, or declare it" };
  return /^TS(2322|2345):/.test(message) ? { ...problem, help: OF_ANOTHER_TYPE } : problem;
}

/** With a tsconfig.json elsewhere, so that none of a folder above counts. */
async function compileWithDefaults(project: Project): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "airlock-ts-"));
  try {
    const tsconfig = join(folder, "tsconfig.json");
    writeFileSync(tsconfig, JSON.stringify({ extends: DEFAULTS, files: [project.entry] }));
    return await compile(project, tsconfig);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the compiler said where it found errors. */
function compile(project: Project, tsconfig: string): Promise<string | undefined> {
  return run(process.execPath, [compiler(project), "--noEmit", "--pretty", "false", "--project", tsconfig], project.folder);
}

function place(groups: Record<string, string | undefined>) {
  return { ...(groups.file && { file: groups.file }), line: Number(groups.line), column: Number(groups.column) };
}

/** The project's own compiler, or the SDK's. */
function compiler(project: Project): string {
  for (const from of [join(project.folder, "package.json"), import.meta.url]) {
    try {
      return join(dirname(createRequire(from).resolve("typescript/package.json")), "bin", "tsc");
    } catch {
      // not there
    }
  }
  return fail({ stage: "types", message: "the TypeScript compiler is not installed", help: "npm install --save-dev typescript" });
}

/** What a program said where it failed; none where it succeeded. */
function run(program: string, args: string[], folder: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => resolve(error ? `${stdout}${stderr}` : undefined));
  });
}
