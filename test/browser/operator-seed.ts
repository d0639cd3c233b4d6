/** A gateway with something of everything that an operator meets, for the pages of runs and deliveries. */
import { agent } from "../../src/agents/agent-factory.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import type { WireAccepted } from "../../src/http/api.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { recordingChannel, type RecordingChannel } from "../../src/test-kit/recording-channel.ts";
import { gate, type HttpGateway } from "../support/http-gateway.ts";

export interface Seed {
  config: WaybillConfig;
  /** Runs at another time than now while it seeds: what is said `early` is ten minutes old. */
  clock: Clock;
  early<T>(seed: () => Promise<T>): Promise<T>;
  phone: RecordingChannel;
  /** Whether the broken agent breaks. */
  broken: { now: boolean };
  /** Lets all that is held go on. */
  letGo(): void;
}

const earlyMs = 10 * 60_000;

export function operatorSeed(): Seed {
  const hold = gate();
  const broken = { now: true };
  let offset = 0;
  const phone = recordingChannel({ kind: "phone", reconcile: "unknown" });
  return {
    config: {
      agents: {
        helper: agent.fn(async (ctx) => `**${ctx.text}** was asked; this is the answer.`),
        broken: agent.fn(async () => {
          if (broken.now) throw new Error("The printer is on fire.");
          return "It is well again.";
        }),
        patient: agent.fn(async (ctx) => {
          await ctx.progress("read 3 of 12 pages", 25);
          await Promise.race([
            hold.opened,
            new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
          ]);
          return "All twelve pages are read.";
        }),
        boss: agent.fn(async (ctx) => {
          await ctx.send("web:main/elsewhere", "psst").catch(() => {});
          const { run } = await ctx.start("counter", "Count the boxes.");
          return `A job counts them: ${run}`;
        }),
        counter: agent.fn(
          async (ctx) => {
            for (const step of [1, 2, 3]) await ctx.progress(`box ${step} of 3`, step * 33);
            return "There are three boxes.";
          },
          { background: true },
        ),
      },
      channels: [phone],
    },
    clock: { now: () => systemClock.now() - offset, after: (ms, call) => systemClock.after(ms, call) },
    async early(seed) {
      offset = earlyMs;
      try {
        return await seed();
      } finally {
        offset = 0;
      }
    },
    phone,
    broken,
    letGo: () => hold.open(),
  };
}

/** Asks over HTTP as somebody. */
export async function ask(
  gateway: HttpGateway,
  conversation: string,
  text: string,
  more: { agent?: string; sender?: { id: string; name: string }; kind?: "dm" | "channel" } = {},
): Promise<WireAccepted> {
  return (await gateway.post<WireAccepted>("/v1/messages", { conversation, text, ...more })).body;
}

export const alice = { id: "alice", name: "Alice" };
export const bob = { id: "bob", name: "Bob" };

/** What the tests find: answers, a failure, a run that goes on, a job, a refusal, and posts that went nowhere. */
export async function seedAll(gateway: HttpGateway, seed: Seed) {
  const going = await seed.early(async () => {
    const progressed = gateway.hint((one) => one.kind === "run" && one.state === "running");
    const asked = await ask(gateway, "library", "Read the long report", {
      agent: "patient",
      sender: alice,
      kind: "channel",
    });
    await progressed;
    return asked;
  });
  const answered = await ask(gateway, "alice", "What is for lunch?", { sender: alice, kind: "dm" });
  await gateway.ended(answered.run);
  const failed = await ask(gateway, "workshop", "Print the poster", {
    agent: "broken",
    sender: bob,
    kind: "channel",
  });
  await gateway.ended(failed.run);
  const boss = await ask(gateway, "workshop", "How many boxes are there?", { agent: "boss", sender: bob });
  await gateway.ended(boss.run);
  const settled = gateway.hint((one) => one.kind === "delivery");
  seed.phone.script({ kind: "refused", reason: "the number is not in use" });
  await seed.phone.receive("5550100", "Call me back");
  await settled;
  return { going, answered, failed, boss };
}
