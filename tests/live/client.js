// An application in JavaScript, for clients.py: serves as many decisions as each line of its input says, one by one and
// together, and answers with how many there were of each kind.
"use strict";
const readline = require("node:readline");
const {Client, Refused} = require("../../clients/tacit_client.js");

async function serve(site, {count, means}) {
  const decisions = [await site.decide(), ...(await site.decideMany(count - 1))];
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

async function main() {
  const site = new Client(process.argv[2]);
  for await (const line of readline.createInterface({input: process.stdin}))
    console.log(JSON.stringify(await serve(site, JSON.parse(line))));
  const result = await site.result();
  if (result.arms.length === 0 || !(await site.statement()).length) throw new Error("no result");
  try {
    await site.reward("99999999", 1);
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
