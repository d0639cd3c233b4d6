import { describe, expect, test } from "vitest";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import { recordingChannel } from "../test-kit/recording-channel.ts";
import { testGateway } from "../test-kit/test-gateway.ts";

eachStore((store) => {
  describe("a preview", () => {
    test("becomes the answer in place where nothing else was said", async () => {
      const { databaseUrl, dispose } = await store.fresh();
      const chat = recordingChannel({ kind: "chat", can: { edit: true, delete: true, preview: true } });
      const config = { agents: { a: agent.fn(() => "the answer") }, channels: [chat] };
      const t = await testGateway(config, { databaseUrl });
      const { run } = await chat.receive("c1", "hi");
      await t.ended(run ?? "");
      await t.settled();
      expect(chat.posts().map((post) => post.text)).toEqual(["the answer"]);
      expect(chat.attempts.map(({ op }) => op.kind)).toEqual(["create", "edit"]);
      await t.stop();
      await dispose();
    });

    test("goes away where something was said meanwhile: the answer stands below that", async () => {
      const { databaseUrl, dispose } = await store.fresh();
      const chat = recordingChannel({ kind: "chat", can: { edit: true, delete: true, preview: true } });
      const talkative = agent.fn(async (ctx) => {
        await ctx.say("first this");
        return "then the answer";
      });
      const t = await testGateway({ agents: { talkative }, channels: [chat] }, { databaseUrl });
      const { run } = await chat.receive("c1", "hi");
      await t.ended(run ?? "");
      await t.settled();
      expect(chat.posts().map((post) => post.text)).toEqual(["first this", "then the answer"]);
      await t.stop();
      await dispose();
    });
  });
});
