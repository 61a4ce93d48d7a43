// Bundles the tests of one kind, so that Node runs them without types, and runs them.
//
// Usage: node scripts/test.mjs unit|host
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const sdk = fileURLToPath(new URL("..", import.meta.url));
const kind = process.argv[2];
// As deep as the sources, so that imports of `dist` hold.
const outdir = `${sdk}target/${kind}`;
const tests = readdirSync(`${sdk}test/${kind}`).filter((name) => name.endsWith(".test.ts"));

rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: sdk,
  entryPoints: tests.map((name) => `test/${kind}/${name}`),
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  external: ["../../dist/*"],
  sourcemap: "inline",
});
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-concurrency=1", "--test-reporter=spec", ...tests.map((name) => `${outdir}/${name.replace(/ts$/, "mjs")}`)], { cwd: sdk, stdio: "inherit" });
process.exit(status ?? 1);
