// An application in JavaScript, for clients.py: serves as many decisions as each line of its input says, one by one and
// together, and answers with how many there were of each kind.
"use strict";
const readline = require("node:readline");
const {Client, Refused} = require("../../clients/tacit_client.js");

let served; // a decision that has its reward

async function serve(site, {count, means}) {
  const decisions = [await site.decide(), ...(await site.decideMany(count - 1))];
  served = decisions[0];
  const rewards = site.rewards({count: 40});
  const kinds = {};
  for (const decision of decisions) {
    if (decision instanceof Refused) throw decision;
    await rewards.add(decision, means[decision.arm]);
    kinds[decision.kind] = (kinds[decision.kind] ?? 0) + 1;
  }
  await rewards.flush();
  const known = Object.keys(rewards.counts).every((status) => ["accepted", "repeated"].includes(status));
  if (rewards.refused.length > 0 || !known) throw new Error(JSON.stringify([rewards.refused, rewards.counts]));
  return kinds;
}

// Nobody is asked: nobody is there. Among many, the others are handed in.
async function refuseWhatIsNoNumber(site) {
  const nobody = new Client("/nobody/agent.sock", {patienceS: 0});
  for (const wrong of [null, undefined, true, "0.5", [1], {}, NaN, Infinity, 1n]) {
    const said = await nobody.reward("1", wrong).catch((trouble) => trouble);
    const [one] = await nobody.rewardMany([["1", wrong]]);
    if (![said, one].every((it) => it instanceof Refused && it.message.includes("finite number"))) throw said;
  }
  const said = await site.rewardMany([[served, NaN], [served, 0.5], [served, "0.5"]]);
  if (!(said[0] instanceof Refused && said[1] === "repeated" && said[2] instanceof Refused)) throw new Error(`${said}`);
}

async function main() {
  const site = new Client(process.argv[2]);
  for await (const line of readline.createInterface({input: process.stdin}))
    console.log(JSON.stringify(await serve(site, JSON.parse(line))));
  await refuseWhatIsNoNumber(site);
  const result = await site.result();
  if (result.arms.length === 0 || !(await site.statement()).length) throw new Error("no result");
  try {
    await site.reward("9".repeat(32), 1);
    throw new Error("a reward of no decision was taken");
  } catch (trouble) {
    if (!(trouble instanceof Refused) || trouble.code !== 404) throw trouble;
  }
  site.disconnect();
}

main().catch((trouble) => {
  console.error(trouble);
  process.exit(1);
});
