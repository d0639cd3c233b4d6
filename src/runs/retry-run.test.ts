import { expect, test } from "vitest";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import { testGateway } from "../test-kit/test-gateway.ts";

eachStore((store) => {
  test("asking a run again twice makes one new run, and gives the same answer", async () => {
    const { databaseUrl, dispose } = await store.fresh();
    let tries = 0;
    const flaky = agent.fn(() => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
      return `answer ${tries}`;
    });
    const t = await testGateway({ agents: { flaky } }, { databaseUrl });
    const failed = await t.say("hi");
    const gateway = await t.gateway();
    const retry = () =>
      gateway
        .fetch(new Request(`http://127.0.0.1/v1/runs/${failed.run}/retry`, { method: "POST" }))
        .then((answer) => answer.json() as Promise<{ run: string }>);
    const [one, two] = await Promise.all([retry(), retry()]);
    const three = await retry();
    expect(new Set([one.run, two.run, three.run])).toEqual(new Set([one.run]));
    await t.ended(one.run);
    const said = await t.messages(failed.address);
    expect(said.filter((message) => message.text === "answer 2")).toHaveLength(1);
    expect(tries).toBe(2);
    await t.stop();
    await dispose();
  });
});
