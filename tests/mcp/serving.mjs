// A workspace, and `airlock serve --http` there, for whoever is a client of it.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Those who may speak with a server: their tokens. The last one's may preview, and not decide. */
export const tokens = { ann: "a".repeat(40), bob: "b".repeat(40), eve: "e".repeat(40) };

/** What a principal sends with each request. */
export const bearer = (principal) => ({ Authorization: `Bearer ${tokens[principal]}` });

/** Has `use` given a workspace with one file, and a store. */
export async function within(use) {
  const folder = mkdtempSync(join(tmpdir(), "airlock-mcp-"));
  const cwd = join(folder, "photos");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.jpeg"), "a");
  const env = { ...process.env, AIRLOCK_STORE: join(folder, "pending.db") };
  const options = { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const run = (...args) => execFileSync(process.env.AIRLOCK, args, options);
  const names = () => readdirSync(cwd).filter((name) => name.startsWith("a."));
  try {
    await use({ folder, cwd, env, run, names });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Has `use` told the address of a server, whose state lies in a folder; then ends the server. */
export async function serving({ folder, cwd, env }, options, use) {
  const file = join(folder, "tokens");
  writeFileSync(file, `ann:${tokens.ann}\nbob:${tokens.bob}\neve:${tokens.eve}:read-only\n`, { mode: 0o600 });
  const args = ["serve", "--http", "127.0.0.1:0", "--token-file", file, ...options];
  const server = spawn(process.env.AIRLOCK, args, { cwd, env, stdio: ["ignore", "inherit", "pipe"] });
  try {
    await use(await address(server.stderr));
  } finally {
    const ended = once(server, "exit");
    if (server.exitCode === null) {
      server.kill();
      await ended;
    }
  }
}

async function address(stderr) {
  const said = [];
  const lines = createInterface({ input: stderr });
  const [url] = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      said.push(line);
      const listening = /^listening on (http:\S+)$/.exec(line);
      if (listening) resolve(listening.slice(1));
    });
    lines.on("close", () => reject(new Error(`it ended before it listened:\n${said.join("\n")}`)));
  });
  return url;
}
