// A person who takes longer than their client lets a call take, with each client for Node, in each era of the protocol, over
// stdio and over HTTP: no decision is lost, none is made up, and nothing hangs.
//
// Usage: late.mjs [LIMIT]    the clients' time limit for a call, in seconds [default: 6]. The server waits for 5/6
//                            of it, or for longer than it. The person answers after 55/60, 65/60 and 20/6 of it (10 times
//                            as long with 60).

import assert from "node:assert/strict";
import { setTimeout as passed } from "node:timers/promises";

import { apply, connected, kinds, overHttp, overStdio, rename } from "./kinds.mjs";
import { serving, within } from "./serving.mjs";

const limit = Number(process.argv[2] ?? 6) * 1000;
const long = limit < 60_000 ? (limit * 20) / 6 : limit * 10;
const thinks = [(limit * 55) / 60, (limit * 65) / 60, long];
const patience = String((limit * 5) / 6 / 1000);
const listed = { name: "list_pending", arguments: {} };
const text = (result) => result.content.map((block) => block.text ?? "").join("\n");

/** The model wants its preview applied, and the person decides after some time. */
async function thinksAfter(kind, time, decision, { names, run }, door) {
  let hasAnswered = false;
  let answered;
  const isAnswered = new Promise((resolve) => (answered = resolve));
  let asked = 0;
  const ask = async () => {
    asked += 1;
    await passed(time);
    hasAnswered = true;
    answered();
    return { action: "accept", content: { decision, reason: "their own" } };
  };
  const left = decision === "apply" ? ["a.jpg"] : ["a.jpeg"];
  // A client of the newest era makes its call again with the answer; there its limit is for each of both.
  await connected(kinds[kind](ask), door, async (client) => {
    await client.callTool(rename);
    const calling = client.callTool(apply(), undefined, { timeout: limit });
    const result = await calling.catch((error) => ({ content: [{ text: `failed: ${error.message}` }] }));
    const told = [text(result)];
    if (told[0].includes("still being asked") || told[0].startsWith("failed")) {
      if (!hasAnswered) assert.deepEqual(names(), ["a.jpeg"], "nobody has decided yet");
      await isAnswered;
      // The outcome is told with the first call after it.
      for (const until = Date.now() + 30_000; Date.now() < until && !told.at(-1).includes("answered since"); ) {
        told.push(text(await client.callTool(listed)));
      }
    }
    const expected = decision === "apply" ? /Applied batch rename/ : /discarded it instead/;
    assert.match(told.at(-1), expected, `first: ${told[0]}\nlast: ${told.at(-1)}`);
    assert.deepEqual(names(), left);
    assert.equal(asked, 1);
    assert.match(text(await client.callTool(listed)), /^Nothing is pending/);
  });
  const { log } = JSON.parse(run("log", "--all", "--json"));
  assert.equal(log.length, 1);
  assert.deepEqual([log[0].resolved.reason, log[0].resolved.decidedBy.evidence], ["their own", "client"]);
}

const trials = [];
for (const kind of Object.keys(kinds)) {
  for (const [at, time] of thinks.entries()) {
    const decision = at === 1 ? "discard" : "apply";
    for (const impatient of time > limit ? [false, true] : [false]) {
      const options = ["--answer-within", impatient ? "86400" : patience];
      const named = `${kind}, ${decision} after ${time / 1000} s${impatient ? ", the client cancels" : ""}`;
      const trial = (place, door) => thinksAfter(kind, time, decision, place, door);
      const overBoth = {
        stdio: within((place) => trial(place, overStdio(place, options))),
        HTTP: within((place) => serving(place, options, (url) => trial(place, overHttp(url, "ann")))),
      };
      for (const [way, trying] of Object.entries(overBoth)) trials.push({ named: `${named}, over ${way}`, trying });
    }
  }
}
const ends = await Promise.allSettled(trials.map(({ trying }) => trying));
let failed = 0;
for (const [at, end] of ends.entries()) {
  if (end.status === "fulfilled") continue;
  failed += 1;
  console.error(`${trials[at].named}:\n${end.reason.stack ?? end.reason}`);
}
console.log(`${ends.length - failed} of ${ends.length} late decisions counted, and the model heard of each`);
process.exitCode = failed ? 1 : 0;
