import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { bundle } from "../../dist/build/bundle.js";
import { componentize } from "../../dist/build/componentize.js";
import { BuildError, describeProblem, type Problem } from "../../dist/build/problem.js";
import { readProject } from "../../dist/build/project.js";
import { checkTypes } from "../../dist/build/typecheck.js";

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function project(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "airlock-ts-test-"));
  folders.push(folder);
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), contents);
  }
  return folder;
}

async function problemsOf(work: () => unknown): Promise<readonly Problem[]> {
  try {
    await work();
  } catch (thrown) {
    assert(thrown instanceof BuildError, String(thrown));
    return thrown.problems;
  }
  return assert.fail("it was built");
}

const bundled = async (files: Record<string, string>) => (await bundle(readProject(project(files), undefined), { engine: "quickjs", minify: false })).source;

test("a project's name and entry are found", () => {
  const folder = project({ "package.json": '{"name": "@me/renamer", "version": "1.2.3"}', "src/tool.js": "", "src/tool.ts": "" });
  const { name, version, entry, typed } = readProject(folder, undefined);
  assert.deepEqual({ name, version, entry, typed }, { name: "renamer", version: "1.2.3", entry: join(folder, "src/tool.ts"), typed: true });
  assert.equal(readProject(folder, "src/tool.js").typed, false);
});

test("what is no project says what is missing", async () => {
  const [none] = await problemsOf(() => readProject(project({}), undefined));
  assert.match(none?.message ?? "", /has none of src\/tool\.ts, /);
  const [broken] = await problemsOf(() => readProject(project({ "package.json": "{", "src/tool.ts": "" }), undefined));
  assert.equal(broken?.file, "package.json");
  const [missing] = await problemsOf(() => readProject("/no/such/folder", undefined));
  assert.equal(missing?.message, "there is no folder /no/such/folder");
});

test("an error of types is told with its place", async () => {
  const folder = project({ "src/tool.ts": 'const count: number =\n  "one";\nexport default count;\n' });
  const problems = await problemsOf(() => checkTypes(readProject(folder, undefined)));
  assert.deepEqual(problems, [{ stage: "types", file: "src/tool.ts", line: 1, column: 7, message: "TS2322: Type 'string' is not assignable to type 'number'.", help: "convert the value, or change the type that is declared where it goes to" }]);
  assert.equal(describeProblem(problems[0] as Problem), "error: src/tool.ts:1:7: TS2322: Type 'string' is not assignable to type 'number'.\n  help: convert the value, or change the type that is declared where it goes to");
});

test("a missing return and a missing import are told with what to do", async () => {
  const check = async (body: string, help: RegExp) => {
    const source = ['import { defineTool, type CustomToolAPI } from "airlock-tool";', "export default (pi: CustomToolAPI) =>", `  defineTool({ name: "t", label: "T", description: "d", parameters: pi.typebox.Type.Object({}), async execute() { ${body} } });`];
    const folder = project({ "src/tool.ts": source.join("\n") });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(process.cwd(), join(folder, "node_modules/airlock-tool"));
    const [problem] = await problemsOf(() => checkTypes(readProject(folder, undefined)));
    assert.match(problem?.help ?? "", help, JSON.stringify(problem));
  };
  await check("", /^end each path of the function with a result: return \{ content: /);
  await check('return { content: [{ type: "text" as const, text: readFile() }] };', /^import it /);
});

test("a result that says that it is an error is an error of types, which says what to do instead", async () => {
  const check = async (result: string) => {
    const folder = project({
      "src/tool.ts": [
        'import type { CustomToolFactory } from "airlock-tool";',
        "const factory: CustomToolFactory = (pi) => ({",
        '  name: "t", label: "T", description: "d", parameters: pi.typebox.Type.Object({}),',
        "  async execute() {",
        `    ${result}`,
        "  },",
        "  apply: async () => ({ content: [], isError: false }),",
        "});",
        "export default factory;",
      ].join("\n"),
    });
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(process.cwd(), join(folder, "node_modules/airlock-tool"));
    const [problem] = await problemsOf(() => checkTypes(readProject(folder, undefined)));
    assert.match(problem?.message ?? "", /ThrowAToolErrorInstead/);
    assert.equal(problem?.file, "src/tool.ts");
  };
  await check('return { content: [{ type: "text", text: "no" }], isError: true };');
  await check('const failed = Date.now() > 0; return { content: [{ type: "text", text: "no" }], isError: failed };');
});

test("an import that can't be had says what to do", async () => {
  const check = async (source: string, help: RegExp) => {
    const [problem] = await problemsOf(() => bundled({ "src/tool.js": source }));
    assert.match(problem?.help ?? "", help);
    assert.deepEqual([problem?.file, problem?.line], ["src/tool.js", 1]);
  };
  await check('import "node:fs/promises";', /"airlock-tool\/fs"/);
  await check('import "path";', /without Node's own modules/);
  await check('import "@scope/missing/part";', /^npm install @scope\/missing$/);
  await check("await 1;", /let the factory be an async function/);
});

test("a module without a default export is told", async () => {
  const help = "`export default` a function that gets `pi`, and returns the tool";
  assert.deepEqual(await problemsOf(() => bundled({ "src/tool.js": "export const factory = () => [];" })), [{ stage: "bundle", file: "src/tool.js", message: "the module has no default export", help }]);
});

test("the top of a module that fails is told with its place", async () => {
  const sources = { "src/tool.js": 'import "./other.js";\nexport default () => [];', "src/other.js": '// €\nconst settings = {};\n\nexport const name = settings.tool.name;' };
  for (const minify of [false, true]) {
    const made = await bundle(readProject(project(sources), undefined), { engine: "quickjs", minify });
    const [problem] = await problemsOf(() => componentize(made, "quickjs", false));
    assert.deepEqual([problem?.file, problem?.line], ["src/other.js", 4]);
    assert.match(problem?.message ?? "", /^\w*Error: cannot read property 'name' of undefined$/);
  }
});

test("a text that the top of a module throws, and endless recursion there, get one sentence", async () => {
  const check = async (files: Record<string, string>, engine: "quickjs" | "starlingmonkey", message: string) => {
    const made = await bundle(readProject(project(files), undefined), { engine, minify: true });
    const [problem] = await problemsOf(() => componentize(made, engine, false));
    assert.deepEqual([problem?.file, problem?.message], ["src/tool.js", message]);
    assert.match(problem?.help ?? "", /the top of a module runs once, when the component is built/);
  };
  const tool = (top: string) => ({ "src/tool.js": `${top};\nexport default () => [];` });
  const recursion = tool("const deep = () => deep() + 1; deep()");
  const stack = "the top of the module ran out of stack: does a function call itself without end?";
  await check(tool('throw "no \\"mode\\""'), "quickjs", 'the top of the module threw "no \\"mode\\""');
  await check(tool("throw undefined"), "quickjs", "the top of the module threw undefined");
  await check(tool("throw 3.5"), "quickjs", "the top of the module threw 3.5");
  await check(tool("throw { code: 3 }"), "quickjs", "the top of the module threw an object that is not an Error");
  await check(recursion, "quickjs", stack);
  const imported = { "src/tool.js": 'import "./other.js";\nexport default () => [];', "src/other.js": 'throw "late";' };
  await check(imported, "quickjs", 'the top of the module, or of one that it imports, threw "late"');
  await check(tool('throw "no mode"'), "starlingmonkey", 'the top of the module threw "no mode"');
  await check(recursion, "starlingmonkey", stack);
});

test("the table of lines knows the tool's own sources and nothing else", async () => {
  const folder = project({
    "src/tool.ts": 'import { help } from "helper";\nimport { deep } from "./lib/deep.js";\nexport default () => [help, deep];',
    "src/lib/deep.ts": "export const deep = () => {\n  return 1;\n};",
    "node_modules/helper/package.json": '{"name": "helper", "main": "index.js"}',
    "node_modules/helper/index.js": "export const help = () => { return 2; };",
  });
  const { source, lines } = await bundle(readProject(folder, undefined), { engine: "quickjs", minify: true });
  assert.deepEqual([...lines.sources].sort(), ["src/lib/deep.ts", "src/tool.ts"]);
  assert(!source.includes(folder), "nothing of the machine's paths is in the component");
  assert(source.includes(JSON.stringify(lines)));
});

test("what no source names is left out", async () => {
  const names = async (source: string) => {
    const text = await bundled({ "src/tool.js": `${source}\nexport default () => [];` });
    return { async: /\basync\b.*=>|\basync function/.test(text), typebox: text.includes("TypeBox.Kind"), url: /globalThis, \{ URL/.test(text), text: /globalThis, \{ TextDecoder/.test(text) };
  };
  const nothing = { async: false, typebox: false, url: false, text: false };
  assert.deepEqual(await names("export const run = async () => { for await (const x of []) await x; };"), nothing);
  assert.deepEqual(await names("export const of = (pi) => pi.typebox;"), { ...nothing, typebox: true });
  assert.deepEqual(await names("export const of = ({ typebox }) => typebox;"), { ...nothing, typebox: true });
  assert.deepEqual(await names("export const u = () => new URL('a:b');"), { ...nothing, url: true });
  assert.deepEqual(await names("export const t = () => new TextEncoder();"), { ...nothing, text: true });
});

const SDK_PACKAGES = join(import.meta.dirname, "../../node_modules");

/** Links packages into a project, as if they were installed there. */
function install(folder: string, names: readonly string[]): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  for (const name of names) symlinkSync(join(SDK_PACKAGES, name), join(folder, "node_modules", name));
}

test("`pi` has those of zod and arktype that a source names and that are installed", async () => {
  const provided = async (source: string, installed: readonly string[]) => {
    const folder = project({ "src/tool.js": source });
    install(folder, installed);
    const { source: text } = await bundle(readProject(folder, undefined), { engine: "quickjs", minify: false });
    return ["zod", "arktype"].filter((name) => text.includes(`providePackage("${name}"`));
  };
  const both = ["zod", "arktype"];
  assert.deepEqual(await provided("export default (pi) => pi.zod.object({});", both), ["zod"]);
  assert.deepEqual(await provided("export default ({ arktype }) => arktype({});", both), ["arktype"]);
  assert.deepEqual(await provided("export default (api) => [api.zod, api['arktype']];", both), both);
  assert.deepEqual(await provided("export default (pi) => pi.zod.object({});", []), []);
  assert.deepEqual(await provided('import * as z from "./zod.js";\nexport default () => z;'.replace("./zod.js", "zod"), both), []);
});

test("arktype can be loaded where classes of the web that it names are missing", async () => {
  const folder = project({ "src/tool.js": 'export default (pi) => pi.arktype({ a: "string" });' });
  install(folder, ["arktype", "@ark", "arkregex"]);
  const made = await bundle(readProject(folder, undefined), { engine: "quickjs", minify: true });
  assert((await componentize(made, "quickjs", false)).length > 0);
});

test("a tool may be a CommonJS module in TypeScript or JavaScript", async () => {
  for (const [path, source] of [
    ["src/tool.cts", 'const name: string = "a"; export default (): string => name;'],
    ["src/tool.cts", 'const name: string = "a"; export = (): string => name;'],
    ["src/tool.cjs", 'module.exports = () => "a";'],
  ] as const) {
    const folder = project({ [path]: source });
    const found = readProject(folder, undefined);
    assert.deepEqual([found.entry, found.typed], [join(folder, path), path.endsWith("cts")]);
    const { source: text } = await bundle(found, { engine: "quickjs", minify: false });
    assert.match(text, /"a"/);
    if (found.typed && !source.includes("export =")) await checkTypes(found);
  }
});
