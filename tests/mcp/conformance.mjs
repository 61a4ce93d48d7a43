// Every server scenario of the protocol's conformance suite, in both eras, against `airlock serve --http`.
//
// All of them are run. Whatever fails has to be left out here, with a reason; and what is left out has to fail, so that
// no reason outlives what it says.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { serving, tokens } from "./serving.mjs";

// What is released knows nothing of 2026-07-28.
const RELEASED = "@modelcontextprotocol/conformance";
const NEXT = "@modelcontextprotocol/conformance-next";
const runs = [
  [RELEASED, "2025-11-25"],
  [NEXT, "2025-11-25"],
  [NEXT, "2026-07-28"],
];

/** Those of an extension, which belong to no version of the protocol and are run by their names. */
const OF_TASKS = [
  "tasks-lifecycle",
  "tasks-capability-negotiation",
  "tasks-wire-fields",
  "tasks-request-state-removal",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-dispatch-and-envelope",
  "tasks-status-notifications",
  "tasks-required-task-error",
  "tasks-mrtr-composition",
];

/** Why scenarios are left out, or single checks of one that is run otherwise: `SCENARIO:CHECK`. */
const leftOut = listed({
  "there are tools, and neither resources, prompts nor completions": [
    "completion-complete",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "resources-subscribe",
    "resources-unsubscribe",
    "sep-2164-resource-not-found",
    "caching:sep-2549-prompts-list-caching-hints",
    "caching:sep-2549-resources-list-caching-hints",
    "caching:sep-2549-resources-templates-list-caching-hints",
    "input-required-result-non-tool-request",
  ],
  "the operator alone changes which tools there are, and the list doesn't hang on what a tool has done": [
    "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
  ],
  "a plugin gives back text, images and links": [
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
  "a plugin asks nobody: the host asks, before `resolve` applies, which clients.mjs and clients.py try": [
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
  ],
  "a tool previews within its call: an apply alone is a task, while it waits for somebody, which tasks.mjs tries": [
    "tasks-lifecycle:sep-2663-result-type-task-on-create",
    "tasks-lifecycle:sep-2663-tasks-get-status-working",
    "tasks-lifecycle:sep-2663-tasks-get-status-completed",
    "tasks-lifecycle:sep-2663-tool-error-uses-completed-status",
    "tasks-lifecycle:sep-2663-tasks-get-status-failed",
    "tasks-lifecycle:sep-2663-cancel-ack-empty-result",
    "tasks-lifecycle:tasks-cancel-terminal-idempotent-ack",
    "tasks-capability-negotiation:sep-2663-server-rejects-undeclared-client",
    "tasks-capability-negotiation:tasks-per-request-meta-opt-in",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers:sep-2663-routing-headers-accepted-on-tasks-get",
    "tasks-request-headers:sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",
    "tasks-dispatch-and-envelope:tasks-server-directed-creation-no-hint",
    "tasks-dispatch-and-envelope:tasks-immediate-result-shortcut",
    "tasks-dispatch-and-envelope:tasks-result-type-complete-on-non-task-responses",
    "tasks-dispatch-and-envelope:sep-2663-durable-create-strong-consistency",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
  ],
  "the suite itself skips it": ["tasks-status-notifications"],
  "logging, sampling and roots are deprecated, and not used": [
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
  ],
});

/** Those of them that any error satisfies, such as that there is no tool of the name. */
const satisfiedByErrors = ["input-required-result-validate-input"];

/** Why scenarios are left out that belong to no version of the protocol, and so to no run. */
const ofExtensions = listed({
  "the extension for skills is not spoken": [
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
  ],
});

/** The names, each with its reason. */
function listed(reasons) {
  return Object.fromEntries(Object.entries(reasons).flatMap(([why, names]) => names.map((name) => [name, why])));
}

/** Messages have to be the protocol's in scenarios that are left out, too. */
const ALWAYS = "wire-schema-valid";

const command = (suite) => {
  const manifest = createRequire(import.meta.url).resolve(`${suite}/package.json`);
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.conformance);
};

/** The names of a suite's scenarios for servers: of one version, or of all. */
async function scenarios(suite, ...options) {
  const listing = [command(suite), "list", "--server", ...options];
  const { stdout } = await promisify(execFile)(process.execPath, listing);
  return [...stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
}

/** Runs a suite, or those scenarios of it, and gives what each has found. */
async function checks(suite, version, named, url, folder) {
  const results = mkdtempSync(join(folder, "results-"));
  const options = ["server", "--url", url, "--spec-version", version, "--output-dir", results];
  const preloaded = ["--import", new URL("bearer.mjs", import.meta.url).href];
  const env = { ...process.env, TOKEN: tokens.ann };
  for (const selected of named ? named.map((name) => ["--scenario", name, "--force"]) : [["--suite", "all"]]) {
    const args = [...preloaded, command(suite), ...options, ...selected];
    await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit");
  }
  const found = readdirSync(results).map((name) => {
    const [, scenario] = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(name);
    return [scenario, JSON.parse(readFileSync(join(results, name, "checks.json"), "utf8"))];
  });
  const wanted = named ? [...named] : await scenarios(suite, "--spec-version", version);
  assert.deepEqual(found.map(([scenario]) => scenario).sort(), wanted.sort());
  return found;
}

/** What is wrong with what a scenario has found. What is left out of it is taken from `unseen` as it fails. */
function wrong([scenario, found], unseen) {
  const failed = found.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  if (failed.length === 0 && passed(found) === 0) failed.push({ id: "nothing", errorMessage: "nothing was found out" });
  return failed.flatMap(({ id, errorMessage, details }) => {
    const excuse = [scenario, `${scenario}:${id}`].find((name) => name in leftOut);
    unseen.delete(excuse);
    if (excuse && id !== ALWAYS) return [];
    return [`${scenario}:${id}: ${errorMessage} ${JSON.stringify(details)}`];
  });
}

const passed = (found) => found.filter(({ status }) => status === "SUCCESS").length;

async function conforms(url, folder) {
  const problems = [];
  for (const [suite, version, named] of [...runs, [NEXT, "2026-07-28", OF_TASKS]]) {
    const all = await checks(suite, version, named, url, folder);
    const names = all.map(([scenario]) => scenario);
    const failing = Object.keys(leftOut).filter((name) => !satisfiedByErrors.includes(name));
    const unseen = new Set(failing.filter((name) => names.includes(name.split(":")[0])));
    const said = all.flatMap((one) => wrong(one, unseen));
    said.push(...[...unseen].map((name) => `${name}: is left out since ${leftOut[name]}, and does not fail`));
    const run = `${suite}, ${version}${named ? ", tasks" : ""}`;
    problems.push(...said.map((problem) => `${run}: ${problem}`));
    const whole = all.filter(([scenario]) => !(scenario in leftOut));
    const sum = whole.reduce((sum, [, found]) => sum + passed(found), 0);
    console.log(`${run}: ${whole.length} of ${all.length} scenarios, ${sum} checks`);
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

/** Each scenario is one of a run, or listed as one of none; and nothing else is listed. */
async function allAreNamed() {
  const known = new Set();
  for (const suite of new Set(runs.map(([suite]) => suite))) {
    const versions = runs.filter(([of]) => of === suite).map(([, version]) => version);
    const run = await Promise.all(versions.map((version) => scenarios(suite, "--spec-version", version)));
    const all = await scenarios(suite);
    for (const scenario of all) known.add(scenario);
    const named = [...run.flat(), ...OF_TASKS, ...Object.keys(ofExtensions)];
    const missing = all.filter((scenario) => !named.includes(scenario));
    assert.deepEqual(missing, [], suite);
  }
  const unknown = Object.keys({ ...leftOut, ...ofExtensions }).filter((name) => !known.has(name.split(":")[0]));
  assert.deepEqual(unknown, []);
}

const folder = mkdtempSync(join(tmpdir(), "airlock-mcp-"));
try {
  await allAreNamed();
  const cwd = join(folder, "workspace");
  mkdirSync(cwd);
  const env = { ...process.env, AIRLOCK_STORE: join(folder, "pending.db") };
  await serving({ folder, cwd, env }, [process.env.MCP_TOOLS], (url) => conforms(url, folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
