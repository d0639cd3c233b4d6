/** How wide a place is, is what its platform said last; our own posts do not change it. */
import { expect, test } from "vitest";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import { testGateway } from "../test-kit/test-gateway.ts";

eachStore((store) => {
  test("a run that began before a place became wider does not make it narrow again", async () => {
    const fresh = await store.fresh();
    const held = Promise.withResolvers<string>();
    const agents = { quick: agent.fn(() => "at once"), slow: agent.fn(() => held.promise) };
    {
      await using t = await testGateway({ agents }, { databaseUrl: fresh.databaseUrl });
      const slow = await t.post("later", { agent: "slow", kind: "dm" });
      await t.post("hello all", { agent: "quick", kind: "channel" });
      held.resolve("now");
      await t.ended(slow.run ?? "");
      expect(await t.conversations()).toMatchObject([{ kind: "channel" }]);
    }
    await fresh.dispose();
  });

  test("what is said of a conversation in one thread holds for it and for its other threads", async () => {
    const fresh = await store.fresh();
    {
      const options = { databaseUrl: fresh.databaseUrl };
      await using t = await testGateway({ agents: { echo: agent.fn((ctx) => ctx.text) } }, options);
      await t.say("one", { thread: "a", kind: "dm" });
      await t.say("two", { thread: "b", kind: "channel" });
      const body = JSON.stringify({ conversation: "chat", thread: "a", text: "three" });
      const headers = { "content-type": "application/json" };
      await t.fetch("/v1/messages", { method: "POST", headers, body });
      const kinds = new Map((await t.conversations()).map(({ thread, kind }) => [thread, kind]));
      expect(kinds).toEqual(
        new Map([
          [null, "channel"],
          ["a", "channel"],
          ["b", "channel"],
        ]),
      );
    }
    await fresh.dispose();
  });
});
