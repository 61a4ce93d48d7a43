// Makes the generated files of the package: `dist`, and copies of the world and the licence, because npm
// packs neither links nor files outside of its folder.
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const sdk = fileURLToPath(new URL("..", import.meta.url));
const run = (tool, ...args) => execFileSync(`${sdk}node_modules/.bin/${tool}`, args, { cwd: sdk, stdio: ["ignore", "ignore", "inherit"] });

for (const folder of [`${sdk}dist`, `${sdk}target/wit-types`, `${sdk}wit/deps/airlock-tool`]) rmSync(folder, { recursive: true, force: true });
cpSync(`${sdk}../../wit/0.1.0`, `${sdk}wit/deps/airlock-tool`, { recursive: true });
cpSync(`${sdk}../../LICENSE`, `${sdk}LICENSE`);
run("jco", "guest-types", "wit", "--world-name", "guest", "--out-dir", "target/wit-types", "--quiet");
try {
  execFileSync(`${sdk}node_modules/.bin/tsc`, ["-p", "."], { cwd: sdk, stdio: "inherit" });
} catch {
  process.exit(1);
}

// Each of these in one file, made for engines without any of the web's APIs; whoever installs the
// SDK needs none of the packages.
const vendored = readdirSync(`${sdk}dist/vendor`).filter((name) => name.endsWith(".js")).map((name) => name.slice(0, -3));
await build({
  absWorkingDir: sdk,
  entryPoints: vendored.map((name) => `src/vendor/${name}.ts`),
  outdir: "dist/vendor",
  allowOverwrite: true,
  bundle: true,
  format: "esm",
  target: "es2023",
  platform: "neutral",
  mainFields: ["module", "main"],
  plugins: [{ name: "no-node", setup: (setup) => setup.onLoad({ filter: /util\.inspect\.js$/ }, () => ({ contents: "module.exports = {}" })) }],
});
const packages = ["@exodus/bytes", "@jridgewell/sourcemap-codec", "@ungap/structured-clone", "abortcontroller-polyfill", "core-js-pure", "object-inspect", "promise-polyfill"];
writeFileSync(`${sdk}dist/vendor/LICENSES`, packages.map((name) => `${name}\n\n${readFileSync(`${sdk}node_modules/${name}/LICENSE`, "utf8")}`).join("\n\n"));
chmodSync(`${sdk}dist/build/main.js`, 0o755);
