#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { bundle, ENGINES, type EngineName } from "./bundle.js";
import { componentize } from "./componentize.js";
import { BuildError, describeProblem, type Problem } from "./problem.js";
import { readProject } from "./project.js";
import { checkTypes } from "./typecheck.js";

const USAGE = `Builds a tool in TypeScript or JavaScript as a component that Airlock runs.

Usage: airlock-ts build [DIR] [OPTION...]

  DIR              the project's folder; default: the current one

  --entry FILE     the module with the factory, relative to DIR; default: src/tool.ts, or src/tool.js
  --out FILE       where the component goes; default: dist/NAME.wasm in DIR, with the name in package.json
  --engine NAME    quickjs (the default), or starlingmonkey, which has more of the web's APIs, and is four times as large
  --small          smaller by 0.5 MB and sooner compiled, and slower to run (quickjs)
  --no-check       don't check types first
  --no-minify      keep the names in the component's source, for readable stacks
  --json           tell the result or the errors as JSON on standard output
  --help, --version

It ends with 1 where the project has errors, and with 2 where it was called wrongly.
`;

interface Built {
  readonly out: string;
  readonly bytes: number;
  readonly engine: EngineName;
  readonly name: string;
  readonly version: string | undefined;
  readonly sdk: { readonly name: string; readonly version: string };
}

const OPTIONS = {
  entry: { type: "string" },
  out: { type: "string" },
  engine: { type: "string", default: "quickjs" },
  small: { type: "boolean", default: false },
  "no-check": { type: "boolean", default: false },
  "no-minify": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
  version: { type: "boolean", default: false },
} as const;

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    return misused((thrown as Error).message);
  }
}

function misused(message: string): never {
  process.stderr.write(`error: ${message}\nairlock-ts --help shows the usage\n`);
  process.exit(2);
}

async function build(folder: string, engine: EngineName, values: ReturnType<typeof readArguments>["values"]): Promise<Built> {
  const project = readProject(folder, values.entry);
  // First, since it knows what a sandbox has nothing of, and the compiler would have it declared.
  const bundled = await bundle(project, { engine, minify: !values["no-minify"] });
  if (project.typed && !values["no-check"]) await checkTypes(project);
  const component = await componentize(bundled, engine, values.small);
  const out = values.out === undefined ? join(project.folder, "dist", `${project.name}.wasm`) : resolve(values.out);
  await mkdir(dirname(out), { recursive: true });
  // A reader never finds half a component.
  await writeFile(`${out}.new`, component);
  await rename(`${out}.new`, out);
  return { out, bytes: component.length, engine, name: project.name, version: project.version, sdk: sdk() };
}

function sdk(): { name: string; version: string } {
  const { name, version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return { name, version };
}

function report(json: boolean, result: Built | readonly Problem[]): void {
  const failed = Array.isArray(result);
  if (json) process.stdout.write(`${JSON.stringify(failed ? { ok: false, errors: result } : { ok: true, ...result })}\n`);
  else if (failed) process.stderr.write(`${result.map(describeProblem).join("\n")}\n`);
  else {
    const { out, bytes } = result as Built;
    process.stdout.write(`${relative(process.cwd(), out)}: ${bytes.toLocaleString("en")} bytes\n`);
  }
}

const { values, positionals } = readArguments();
if (values.help) process.stdout.write(USAGE);
else if (values.version) process.stdout.write(`${sdk().name} ${sdk().version}\n`);
else {
  const [command, folder = ".", ...more] = positionals;
  if (command !== "build") misused(command === undefined ? "no command; there is `build`" : `there is no command \`${command}\`; there is \`build\``);
  if (more.length > 0) misused(`expected one folder, not ${1 + more.length}`);
  const engine = ENGINES.find((name) => name === values.engine) ?? misused(`there is no engine \`${values.engine}\`; there are ${ENGINES.join(" and ")}`);
  try {
    report(values.json, await build(folder, engine, values));
  } catch (thrown) {
    if (!(thrown instanceof BuildError)) throw thrown;
    report(values.json, thrown.problems);
    process.exitCode = 1;
  }
}
