import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { build, type BuildFailure, type Message } from "esbuild";

import type { Lines } from "../guest/places.js";
import { ENTRY, linesOf, PLACEHOLDER, withLines } from "./lines.js";
import { BuildError, type Problem } from "./problem.js";
import type { Project } from "./project.js";

export const ENGINES = ["quickjs", "starlingmonkey"] as const;
export type EngineName = (typeof ENGINES)[number];

/** Where the SDK's own modules are. */
const SDK = fileURLToPath(new URL("..", import.meta.url));

export interface BundleOptions {
  readonly engine: EngineName;
  readonly minify: boolean;
}

export interface Bundle {
  readonly source: string;
  /** Where its code comes from. */
  readonly lines: Lines;
  /** The project's entry, relative to the project. */
  readonly entry: string;
  /** Whether the entry imports no other module but the SDK's. */
  readonly isOneModule: boolean;
}

/** `pi.typebox`, and no module of that name. */
const TYPEBOX = /(?<![\w/"'`-])typebox\b|\[["'`]typebox\b/;

/** `pi.arktype`, or the package itself, however it is imported. */
const ARKTYPE = /\.\s*arktype\b|[{,]\s*arktype\s*[:,}=]|\[\s*["'`]arktype["'`]\s*\]|\bplatformConstructors\b/;

/** What is left out where no source names it: each is as large as many a tool. */
const OPTIONAL: Readonly<Record<EngineName, readonly (readonly [part: string, named: RegExp])[]>> = {
  quickjs: [
    ["abort", /\bAbort(Controller|Signal)\b/],
    ["structured-clone", /\bstructuredClone\b/],
    ["text", /\bText(En|De)coder\b/],
    ["typebox", TYPEBOX],
    ["url", /\bURL(SearchParams)?\b/],
    // Behind those whose classes it may name.
    ["arktype", ARKTYPE],
  ],
  starlingmonkey: [["arktype", ARKTYPE], ["typebox", TYPEBOX]],
};

/** Packages of the project's own that `pi` has, and what it has of them. */
const PACKAGES = [
  { name: "zod", named: /\.\s*zod\b|[{,]\s*zod\s*[:,}=]|\[\s*["'`]zod["'`]\s*\]/, imports: "* as provided" },
  { name: "arktype", named: ARKTYPE, imports: "{ type as provided }" },
] as const;

/** The project and all that it imports, as one module that exports what the world asks for. */
export async function bundle(project: Project, options: BundleOptions): Promise<Bundle> {
  // The SDK is looked for by itself, so that its own parts don't count as named.
  const first = await run(project, options, [`import ${JSON.stringify(project.entry)};`], ["airlock-tool", "airlock-tool/*"]);
  const files = Object.keys(first.metafile.inputs)
    .map((input) => resolve(project.folder, input))
    .filter((path) => existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
  const sources = files.map(({ text }) => text);
  const own = files.filter(({ path }) => !path.includes(`${sep}node_modules${sep}`));
  const packages = PACKAGES.filter(({ name, named }) => own.some(({ text }) => named.test(text)) && isInstalled(name, project.folder));
  const named = OPTIONAL[options.engine].filter(([, name]) => sources.some((source) => name.test(source))).map(([part]) => part);
  const second = await run(project, options, entryModule(project, options.engine, named, packages), []);
  const [map, code] = [".map", ".js"].map((end) => second.outputFiles.find(({ path }) => path.endsWith(end))?.text ?? "");
  const lines = linesOf(code ?? "", map ?? "", project, options.engine);
  return { source: withLines(code ?? "", lines), lines, entry: relative(project.folder, project.entry), isOneModule: files.length === 1 };
}

/** Whether npm has put a package into the folder, or into one above it. */
function isInstalled(name: string, folder: string): boolean {
  const above = dirname(folder);
  return existsSync(join(folder, "node_modules", name, "package.json")) || (above !== folder && isInstalled(name, above));
}

function entryModule(project: Project, engine: EngineName, optional: readonly string[], packages: readonly (typeof PACKAGES)[number][]): string[] {
  const part = (path: string) => JSON.stringify(join(SDK, path));
  return [
    `import ${part(`${engine}/globals.js`)};`,
    ...optional.map((name) => `import ${part(`optional/${name}.js`)};`),
    ...packages.flatMap(({ name, imports }) => [
      `import ${imports.replace("provided", name)} from ${JSON.stringify(name)};`,
      `import { providePackage as provide_${name} } from ${part("guest/api.js")};`,
    ]),
    `import factory from ${JSON.stringify(project.entry)};`,
    `import { engine } from ${part(`${engine}/engine.js`)};`,
    `import { provideLines } from ${part("guest/places.js")};`,
    `import { serve } from ${part("guest/serve.js")};`,
    `provideLines(${JSON.stringify(PLACEHOLDER)});`,
    ...packages.map(({ name }) => `provide_${name}(${JSON.stringify(name)}, ${name});`),
    "export const { tool, resolver } = serve(factory, engine);",
  ];
}

async function run(project: Project, { engine, minify }: BundleOptions, entry: readonly string[], apart: readonly string[]) {
  try {
    return await build({
      stdin: { contents: entry.join("\n"), resolveDir: project.folder, sourcefile: ENTRY },
      outfile: "tool.js",
      sourcemap: "external",
      sourcesContent: false,
      absWorkingDir: project.folder,
      bundle: true,
      write: false,
      metafile: true,
      minify,
      keepNames: !minify,
      legalComments: "none",
      format: "esm",
      platform: "browser",
      target: "es2023",
      charset: "utf8",
      logLevel: "silent",
      define: { AIRLOCK_ENGINE: JSON.stringify(engine), "process.env.NODE_ENV": '"production"', global: "globalThis" },
      external: ["airlock:*", "wasi:*", ...apart],
      // `async` and `await` become calls of the global Promise, which the SDK replaces.
      ...(engine === "quickjs" && {
        supported: { "async-await": false, "async-generator": false, "for-await": false, "top-level-await": false },
      }),
    });
  } catch (thrown) {
    const { errors } = thrown as BuildFailure;
    if (!Array.isArray(errors)) throw thrown;
    throw new BuildError(errors.map((error) => problemOf(error, project)));
  }
}

function problemOf({ text, location }: Message, project: Project): Problem {
  if (location?.file === ENTRY && /for import "default"/.test(text)) {
    return { stage: "bundle", file: relative(project.folder, project.entry), message: "the module has no default export", help: "`export default` a function that gets `pi`, and returns the tool" };
  }
  const file = location && relative(project.folder, resolve(project.folder, location.file));
  const help = helpFor(text);
  return { stage: "bundle", message: text, ...(location && { file: file ?? location.file, line: location.line, column: location.column + 1 }), ...(help && { help }) };
}

const NATIVE = "a package with native code can't go into a component: use one that is plain JavaScript";

function helpFor(text: string): string | undefined {
  if (/^No loader is configured for "\.node" files/.test(text)) return NATIVE;
  const missing = /Could not resolve "([^"]+)"/.exec(text)?.[1];
  if (missing === undefined) {
    return text.startsWith("Top-level await") ? "a module runs once, when the component is built: let the factory be an async function, and await there" : undefined;
  }
  const name = missing.replace(/^node:/, "").split("/")[0] ?? missing;
  if (name === "fs") return 'the files of the workspace are in "airlock-tool/fs", by the names of node:fs/promises';
  if (builtinModules.includes(name)) return "a tool runs in a sandbox without Node's own modules: use a package that is plain JavaScript";
  return missing.startsWith(".") ? undefined : `npm install ${missing.startsWith("@") ? missing.split("/").slice(0, 2).join("/") : missing.split("/")[0]}`;
}
