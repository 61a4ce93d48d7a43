// Looks at what a tool finds in its engine, and answers as JSON.
import { defineTool, type CustomToolFactory, type Resolution } from "airlock-tool";
import * as fs from "airlock-tool/fs";
import * as z from "zod";

const decoder = new TextDecoder();
const atTheTop: string[] = [];
Promise.resolve().then(() => atTheTop.push("a promise of the module's top"));
try {
  setTimeout(() => {}, 0);
} catch (thrown) {
  atTheTop.push((thrown as Error).message);
}

async function* upTo(count: number) {
  for (let value = 1; value <= count; value++) yield await Promise.resolve(value);
}

const sleep = (time: number) => new Promise<void>((resolve) => setTimeout(resolve, time));
const outcome = (work: () => unknown) => Promise.try(work).then(String, (thrown: unknown) => (thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)));

const PROBES: Record<string, (signal: AbortSignal) => unknown> = {
  async promises() {
    const order: string[] = [];
    queueMicrotask(() => order.push("microtask"));
    setTimeout(() => order.push("timeout"), 0);
    await null;
    order.push("after await");
    await sleep(5);
    let sum = 0;
    for await (const value of upTo(4)) sum += value;
    const { promise, resolve } = Promise.withResolvers<number>();
    resolve(7);
    return {
      order,
      sum,
      resolved: await promise,
      all: await Promise.all(new Set([1, Promise.resolve(2)])),
      any: await Promise.any([Promise.reject(new Error("no")), Promise.resolve("yes")]),
      race: await Promise.race([sleep(10_000), Promise.resolve("first")]),
      settled: (await Promise.allSettled([Promise.reject(1), 2])).map(({ status }) => status),
      rejected: await outcome(() => Promise.reject(new RangeError("out"))),
    };
  },
  async timers() {
    const ticks: number[] = [];
    const start = performance.now();
    await new Promise<void>((resolve) => {
      const id = setInterval(() => {
        ticks.push(ticks.length);
        if (ticks.length === 3) {
          clearInterval(id);
          resolve();
        }
      }, 10);
    });
    const cleared = setTimeout(() => ticks.push(99), 1);
    clearTimeout(cleared);
    await sleep(20);
    const took = performance.now() - start;
    return { ticks, took: took >= 49 && took < 5_000 };
  },
  text() {
    const bytes = new TextEncoder().encode("grün €𝄞");
    return { bytes: [...bytes], back: new TextDecoder().decode(bytes), early: decoder.decode(bytes), fatal: outcomeNow(() => new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.of(0xff))) };
  },
  url() {
    const url = new URL("../b?x=1#top", "https://user@example.com:8080/a/c");
    url.searchParams.append("y", "ä b");
    return { href: url.href, host: url.host, params: [...new URLSearchParams("p=1&p=2").getAll("p")], wrong: outcomeNow(() => new URL("no url")) };
  },
  clone() {
    const original = { when: new Date(0), map: new Map([[1, { two: [3] }]]) };
    const copy = structuredClone(original);
    return { equal: copy.map.get(1)?.two[0] === 3 && copy.when.getTime() === 0, apart: copy.map !== original.map, wrong: outcomeNow(() => structuredClone(() => {})) };
  },
  crypto() {
    const id = crypto.randomUUID();
    return { uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id), id, random: Math.random(), filled: crypto.getRandomValues(new Uint32Array(8)).some((value) => value !== 0) };
  },
  async absent() {
    return { fetch: await outcome(() => fetch("https://example.com/")), window: typeof (globalThis as { window?: unknown }).window };
  },
  console() {
    console.log("plain %s", { a: [1, "two"] });
    console.warn(new Error("shown"));
    console.group("outer");
    console.error("inner\nlines");
    console.groupEnd();
    console.debug(undefined, null, 1n, Symbol("s"));
    return {};
  },
  top: () => ({ atTheTop }),
  async signal(signal) {
    const controller = new AbortController();
    const heard = new Promise((resolve) => controller.signal.addEventListener("abort", () => resolve("heard")));
    controller.abort();
    return { aborted: signal.aborted, heard: await heard, name: (controller.signal.reason as Error).name };
  },
  async forgotten() {
    void (async () => {
      await null;
      throw new Error("nobody caught this");
    })();
    await null;
    return {};
  },
  async caughtLater() {
    const failing = Promise.reject(new Error("late"));
    for (let turn = 0; turn < 20; turn++) await null;
    const caught = await failing.catch((error: Error) => error.message);
    return { caught };
  },
  async abandoned() {
    setTimeout(() => {
      throw new Error("nobody caught this");
    }, 0);
    await new Promise((resolve) => setTimeout(resolve, 1));
    setTimeout(() => console.error("too late"), 60_000);
    await null;
    return {};
  },
  async read() {
    const scratch = "/scratch/made/deep";
    await fs.mkdir(scratch, { recursive: true });
    await fs.writeFile(`${scratch}/a.txt`, "grün");
    await fs.appendFile(`${scratch}/a.txt`, " und blau");
    await fs.copyFile(`${scratch}/a.txt`, `${scratch}/b.txt`);
    await fs.rename(`${scratch}/b.txt`, "/scratch/c.txt");
    const big = new Uint8Array(1_000_000).map((_, index) => index % 251);
    await fs.writeFile("/scratch/big", big);
    const bigBack = await fs.readFile("/scratch/big");
    const names = await fs.readdir("/scratch");
    await fs.rm("/scratch/made", { recursive: true });
    return {
      text: await fs.readFile("/scratch/c.txt", "utf8"),
      big: bigBack.length === big.length && bigBack.every((byte, index) => byte === index % 251),
      names,
      after: await fs.readdir("/scratch"),
      workspace: (await fs.readdir(".", { withFileTypes: true })).map((entry) => `${entry.name}${entry.isDirectory() ? "/" : ""}`),
      size: (await fs.stat("notes.txt")).size,
      absolute: await fs.readFile("/workspace/folder/../notes.txt", "utf8"),
      errors: [
        await outcome(() => fs.writeFile("notes.txt", "changed")),
        await outcome(() => fs.rename("notes.txt", "other.txt")),
        await outcome(() => fs.readFile("missing.txt")),
        await outcome(() => fs.readFile("/etc/passwd")),
        await outcome(() => fs.readFile("../../etc/passwd")),
        await outcome(() => fs.rm("folder")),
        await outcome(() => fs.rm("missing.txt", { force: true })),
        await outcome(() => fs.readdir("notes.txt")),
        await outcome(() => fs.readFile("folder")),
        await outcome(() => fs.readFile("")),
      ],
    };
  },
};

function outcomeNow(work: () => unknown): string {
  try {
    return String(work());
  } catch (thrown) {
    return (thrown as Error).name;
  }
}

const factory: CustomToolFactory = async (pi) => {
  await Promise.resolve();
  return [
    defineTool({
      name: "probe",
      label: "Probe",
      description: "Looks at one thing.",
      readOnly: true,
      parameters: z.object({ what: z.enum(Object.keys(PROBES)), times: z.number().default(1).transform((times) => times * 2) }),
      async execute(_id, { what, times }, _onUpdate, _ctx, signal) {
        // The default and the conversion of the schema have happened.
        if (times !== 2) throw new Error(`times is ${times}`);
        return { content: [], details: await PROBES[what]?.(signal) };
      },
    }),
    defineTool({
      name: "bytes",
      label: "Bytes",
      description: "Keeps bytes for its apply.",
      parameters: { type: "object", properties: {}, additionalProperties: false },
      apply: async (state: Uint8Array, _reason: string, { attempt }: Resolution) => {
        await fs.mkdir("made");
        await fs.writeFile("made/bytes", state);
        return { content: [], details: { attempt, bytes: [...state], isBytes: state instanceof Uint8Array } };
      },
      execute() {
        pi.pushPendingAction({ label: "Bytes: some", state: Uint8Array.of(0, 10, 255) });
        return { content: [] };
      },
    }),
  ];
};

export default factory;
