import { agent } from "../src/agents/agent-factory.ts";
import { benchGateway, watchEnds } from "./support/gateway.ts";
import { bullmq } from "./support/bullmq.ts";
import { aside, atLeast, median, report } from "./support/figures.ts";

/**
 * Turns a second, from accept to delivered, with 200 conversations that each wait for their answer before they go on;
 * and BullMQ's no-op jobs with the same 200 in flight on a Redis that syncs every write, in turns within one run.
 */
const CONVERSATIONS = 200;
const TURNS = Number(process.env.TURNS ?? 10_000);
const ROUNDS = Number(process.env.ROUNDS ?? 3);

async function turns(): Promise<number> {
  const gateway = await benchGateway({ agents: { echo: agent.fn((ctx) => ctx.text) } });
  const ended = watchEnds(gateway);
  let next = 0;
  const converse = async (conversation: string): Promise<void> => {
    while (next < TURNS) {
      next += 1;
      const accepted = await gateway.say(conversation, "hello");
      if (accepted.run) await ended(accepted.run);
    }
  };
  const names = Array.from({ length: CONVERSATIONS }, (_, i) => `c${i}`);
  await Promise.all(names.map((name) => gateway.say(name, "warm").then((a) => ended(a.run ?? ""))));
  const from = performance.now();
  await Promise.all(names.map(converse));
  const rate = (TURNS / (performance.now() - from)) * 1_000;
  await gateway.stop();
  return rate;
}

const ours: number[] = [];
const theirs: number[] = [];
for (let i = 0; i < ROUNDS; i += 1) {
  ours.push(await turns());
  theirs.push(await bullmq(TURNS, CONVERSATIONS));
}
const ratio = median(ours.map((rate, i) => rate / (theirs[i] ?? Number.NaN)));
report([
  atLeast("turns a second, 200 conversations, SQLite FULL", median(ours), 3_000, "turns/s"),
  aside("BullMQ no-op jobs a second, appendfsync always", median(theirs), "jobs/s"),
  atLeast("ours to BullMQ's, pair by pair", ratio, 1, "x"),
]);
process.exit(0);
