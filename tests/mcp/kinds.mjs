// The clients for Node, in each era of the protocol, and the ways to `airlock serve`.

import * as newer from "@modelcontextprotocol/client";
import { StdioClientTransport as NewerStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { bearer } from "./serving.mjs";

const airlock = process.env.AIRLOCK;
export const rename = { name: "batch_rename_preview", arguments: { files: ["*.jpeg"], find: "jpeg$", replace: "jpg" } };
/** What is served by default, and whether it is read-only: each but `resolve`, which those who may only preview lack. */
export const previews = Object.fromEntries(
  [
    ...["read_file", "list_directory", "find_files", "grep", "write_file", "edit_file", "apply_patch", "search_replace"],
    ...["edit_values", "move_file", "copy_file", "delete_file", "make_directory"],
    ...["batch_rename_preview", "run_script", "ast_edit", "undo", "list_pending"],
  ].map((name) => [name, true]),
);
export const apply = (id) => ({ name: "resolve", arguments: { action: "apply", reason: "the model's", ...(id && { id }) } });
const info = { name: "clients.mjs", version: "1" };

/** Each makes a client, whose person answers by `ask` where there is one, and has its transports. */
export const kinds = {
  "@modelcontextprotocol/sdk": (ask) => {
    const client = new OlderClient(info, { capabilities: ask ? { elicitation: {} } : {} });
    if (ask) client.setRequestHandler(ElicitRequestSchema, ask);
    return { client, Stdio: OlderStdio, Http: OlderHttp };
  },
  "@modelcontextprotocol/client, legacy": (ask) => newerClient(ask, "legacy"),
  "@modelcontextprotocol/client, auto": (ask) => newerClient(ask, "auto"),
  "@modelcontextprotocol/client, 2026-07-28": (ask) => newerClient(ask, { pin: "2026-07-28" }),
};

function newerClient(ask, mode) {
  const capabilities = ask ? { elicitation: {} } : {};
  const client = new newer.Client(info, { capabilities, versionNegotiation: { mode } });
  if (ask) client.setRequestHandler("elicitation/create", ask);
  return { client, Stdio: NewerStdio, Http: newer.StreamableHTTPClientTransport };
}

/** A server that the client starts. */
export const overStdio = (place, options = []) => ({ Stdio }) => {
  return new Stdio({ command: airlock, args: ["serve", ...options], cwd: place.cwd, env: place.env });
};

/** A server that is there, for one of those who have a token. */
export const overHttp = (url, principal) => ({ Http }) => new Http(new URL(url), { requestInit: { headers: bearer(principal) } });

export async function connected(made, door, use) {
  try {
    await made.client.connect(door(made));
    await use(made.client);
  } finally {
    await made.client.close();
  }
}
