// Tools with mistakes in them. The tests name lines of this file.
import { ToolError } from "airlock-tool";
import { readFile } from "airlock-tool/fs";

const umlauts = "äöü€𝄞";

const ends = {
  async engine(options) {
    await null; console.log("€€€ before it on a line"); return options.missing.name;
  },
  timer: () =>
    new Promise((_, reject) => {
      setTimeout(() => {
        try {
          umlauts.nothing();
        } catch (thrown) {
          reject(thrown);
        }
      }, 1);
    }),
  file: () => readFile("missing.txt"),
  details: (_, pi) => pi.pushPendingAction({ label: "L", apply() {}, details: { items: [1, Promise.resolve()] } }),
  fetch: () => fetch("https://example.com/"),
  plain: () => {
    throw new Error("in the tool's own words");
  },
  tool: () => {
    throw new ToolError("on purpose");
  },
  text: () => Promise.reject("no error at all"),
  push: (_, pi) => pi.pushPendingAction({ label: "", apply() {} }),
  error: () => ({ isError: true, content: [{ type: "text", text: "as MCP says it" }] }),
  async left() {
    setTimeout(() => {}, 60_000);
    later();
    return { content: [] };
  },
  async race() {
    await Promise.race([sleep(1), sleep(60_000)]);
    return { content: [] };
  },
};

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const later = async () => {
  await sleep(60_000);
  console.log("too late");
};

const parameters = { type: "object", properties: { how: { type: "string" } } };

export default (pi) => [
  { name: "faults", label: "Faults", description: "Ends badly.", parameters, execute: (_id, { how }) => ends[how]({}, pi) },
  { name: "no_execute", label: "No execute", description: "d", parameters },
  { name: "no_label", description: "d", parameters, execute() {} },
  {
    name: "applies",
    label: "Applies",
    description: "Pushes what fails when it is applied.",
    parameters,
    execute(_id, { how }) {
      pi.pushPendingAction({ label: "Fail", ...(how === "durable" ? { state: {} } : { apply: ends.error }) });
      return { content: [] };
    },
    apply: ends.error,
  },
  {
    name: "no_result",
    label: "No result",
    description: "d",
    parameters,
    async execute() {},
  },
];
