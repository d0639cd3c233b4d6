/** Two gateways on one store: refused by name on SQLite, one ledger on Postgres. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { manualClock, recordingChannel, testGateway } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, refusal } from "./support.ts";

/** Short enough that a node that stands still is found soon. */
const leaseMs = 600;

eachStore((store) => {
  if (store.name === "sqlite") {
    scenario(
      ["LEDG-16", "SECU-2"],
      "a second gateway on the same file is refused by name, and the first goes on",
      async () => {
        const echo = agent.fn(async (ctx) => ctx.text);
        await using t = await gatewayOn(store, { agents: { echo } });
        const second = refusal(() => testGateway({ agents: { echo } }, { databaseUrl: t.databaseUrl }));
        expect(await second).toMatchObject({ code: "data_in_use" });
        expect((await t.say("hi")).text).toBe("hi");
      },
    );
    return;
  }

  scenario(["LEDG-16"], "with two nodes each lane still runs one at a time and in order", async () => {
    let most = 0;
    const running = new Map<string, number>();
    const busy = agent.fn(async (ctx) => {
      running.set(ctx.address, (running.get(ctx.address) ?? 0) + 1);
      most = Math.max(most, running.get(ctx.address) ?? 0);
      for (let n = 0; n < 3; n += 1) await new Promise(setImmediate);
      running.set(ctx.address, (running.get(ctx.address) ?? 0) - 1);
      return `answer ${ctx.text}`;
    });
    await using a = await gatewayOn(store, { agents: { busy } });
    await using b = await testGateway({ agents: { busy } }, { databaseUrl: a.databaseUrl });
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (n % 2 ? a : b).post(`${n}`, { conversation: `c${n % 5}`, id: `m${n}`, sender: `s${n % 2}` }),
      ),
    );
    await a.settled();
    expect(most).toBe(1);
    for (let lane = 0; lane < 5; lane += 1) {
      const said = await a.messages(a.address(`c${lane}`));
      const texts = (role: string) => said.filter((one) => one.role === role).map(({ text }) => text);
      expect(texts("assistant")).toEqual(texts("user").map((text) => `answer ${text}`));
    }
    expect((await a.runs()).every(({ attempts }) => attempts === 1)).toBe(true);
  });

  scenario(
    ["LEDG-16", "LEDG-17"],
    "a message or a stop through one node reaches the run on the other",
    async () => {
      const hang = agent.fn(async (ctx) => (ctx.text === "next" ? "next" : new Promise<string>(() => {})));
      await using a = await gatewayOn(store, { agents: { hang }, followUp: "interrupt" });
      const asked = await a.post("hang");
      await a.reached(asked.run ?? "", (state) => state === "running");
      await using b = await testGateway(
        { agents: { hang }, followUp: "interrupt" },
        { databaseUrl: a.databaseUrl },
      );
      expect((await b.say("next", { id: "n1" })).text).toBe("next");
      expect(await b.run(asked.run ?? "")).toMatchObject({ state: "cancelled", reason: "newer_message" });
      const again = await a.post("hang", { id: "n2" });
      await a.reached(again.run ?? "", (state) => state === "running");
      expect((await b.say("stop", { id: "n3" })).text).toBe("Stopped 1 run.");
      expect(await b.ended(again.run ?? "")).toMatchObject({ state: "cancelled" });
    },
  );

  scenario(
    ["LEDG-13", "LEDG-16"],
    "a node that stood still is reported once, and what it writes afterwards is refused",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const clock = manualClock();
      const [working, wake] = [gate(), gate()];
      const codes: string[] = [];
      const wroteAll = gate();
      const zombie = agent.fn(async (ctx) => {
        if (ctx.text !== "hang") return `answer ${ctx.text}`;
        working.open();
        await wake.opened;
        for (const write of [
          () => ctx.say("late"),
          () => ctx.send(undefined, "late"),
          () => ctx.progress("late"),
          () => ctx.start("zombie", "late"),
          () => ctx.checkpoint("late"),
        ]) {
          codes.push((await refusal(write)).code);
        }
        wroteAll.open();
        return "the late answer";
      });
      const config = { agents: { zombie }, channels: [chat] };
      // Its clock never moves: it never beats, as a process that is frozen.
      await using a = await gatewayOn(store, config, { clock, leaseMs });
      const asked = await a.post("hang", { address: "chat:test/room" });
      await working.opened;
      await a.post("next", { address: "chat:test/room" });

      await using b = await testGateway(config, { databaseUrl: a.databaseUrl, leaseMs });
      expect(await b.ended(asked.run ?? "")).toMatchObject({ state: "interrupted", reason: "lease_lost" });
      wake.open();
      await wroteAll.opened;
      await b.settled();

      expect(codes).toEqual(["run_lost", "run_lost", "run_lost", "run_lost", "run_lost"]);
      const texts = chat.posts("chat:test/room").map(({ text }) => text);
      expect(texts).toEqual([expect.stringContaining("so it was not finished"), "answer next"]);
      expect((await b.runs()).map(({ state, attempts }) => [state, attempts])).toEqual([
        ["interrupted", 1],
        ["completed", 1],
      ]);
    },
  );
});
