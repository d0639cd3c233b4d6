/** Gateways whose settings changed, whose start failed, or that have more to do than they may do at once. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel, testGateway } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn } from "./support.ts";

eachStore((store) => {
  scenario(
    ["LEDG-13", "LEDG-14"],
    "a channel or an agent that has gone from the settings holds up neither start nor lanes",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const old = agent.fn(async (ctx) =>
        ctx.text === "hang" ? new Promise<string>(() => {}) : "old answered",
      );
      const fresh = await store.fresh();
      const options = { databaseUrl: fresh.databaseUrl };
      try {
        const before = await testGateway({ agents: { old }, channels: [chat] }, options);
        const hanging = await before.post("hang", { address: "chat:test/room" });
        await before.post("next", { address: "chat:test/room" });
        await before.reached(hanging.run ?? "", (state) => state === "running");
        await before.stop();

        const after = await testGateway({ agents: { old } }, options);
        const queued = (await after.runs())[1];
        await after.ended(queued?.id ?? "");
        expect((await after.runs()).map(({ state }) => state)).toEqual(["interrupted", "completed"]);
        const [notice, answer] = await after.deliveries({ address: "chat:test/room" });
        expect(answer).toMatchObject({ state: "blocked", reason: "no channel chat is configured" });
        await after.say("status");
        await after.stop();

        const back = await testGateway({ agents: { old }, channels: [chat] }, options);
        await back.redeliver(answer?.id ?? "");
        expect(chat.posts("chat:test/room").map(({ text }) => text)).toContain("old answered");
        expect(notice?.id).toBeDefined();
        await back.stop();
      } finally {
        await fresh.dispose();
      }
    },
  );

  scenario(["LEDG-13", "OPER-1"], "a start that fails leaves the store free for the next one", async () => {
    const fresh = await store.fresh();
    const echo = agent.fn(async (ctx) => ctx.text);
    const broken = recordingChannel({ kind: "chat" });
    const failing = {
      ...broken,
      connect: () => {
        throw new Error("the library is not installed");
      },
    };
    try {
      const options = { databaseUrl: fresh.databaseUrl };
      await expect(testGateway({ agents: { echo }, channels: [failing] }, options)).rejects.toThrow(
        "not installed",
      );
      const t = await testGateway({ agents: { echo } }, options);
      expect((await t.say("hi")).text).toBe("hi");
      await t.stop();
    } finally {
      await fresh.dispose();
    }
  });

  scenario(["OPER-1"], "a channel that its platform refuses is off, and the others go on", async () => {
    const refused = recordingChannel({ kind: "chat" });
    const { connect } = refused;
    const off = {
      ...refused,
      connect: (ports: Parameters<typeof connect>[0]) => ({
        ...connect(ports),
        start: () => Promise.reject(new Error("the token is not valid")),
      }),
    };
    const echo = agent.fn(async (ctx) => ctx.text);
    await using t = await gatewayOn(store, { agents: { echo }, channels: [off] });
    expect((await t.say("hi")).text).toBe("hi");
    const answer = await t.fetch("/v1/channels");
    const { items } = (await answer.json()) as { items: { kind: string; state: string }[] };
    expect(items.map(({ kind, state }) => [kind, state])).toEqual([
      ["web", "on"],
      ["chat", "off"],
    ]);
  });

  scenario(["LEDG-16"], "with as many runs at once as may be, others wait and none is lost", async () => {
    let [now, most] = [0, 0];
    const full = gate();
    const busy = agent.fn(async (ctx) => {
      now += 1;
      most = Math.max(most, now);
      // Nobody goes before as many are there as may be; one more than that would be seen.
      if (now === 3) full.open();
      await full.opened;
      for (let n = 0; n < 5; n += 1) await new Promise(setImmediate);
      now -= 1;
      return ctx.text;
    });
    await using t = await gatewayOn(store, { agents: { busy }, limits: { concurrency: 3 } });
    await Promise.all(Array.from({ length: 30 }, (_, n) => t.post(`${n}`, { conversation: `c${n}` })));
    await t.settled();
    expect(most).toBe(3);
    expect((await t.runs()).filter(({ state }) => state === "completed")).toHaveLength(30);
  });
});
