import { expect, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import { recordingChannel, testGateway } from "./index.ts";

const agents = { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) };

test("says something, waits for the answer, and shows what was posted", async () => {
  await using t = await testGateway({ agents });
  const said = await t.say("hi", { sender: "ada" });
  expect(said).toMatchObject({
    state: "completed",
    text: "You said: hi",
    address: "web:main/chat",
    outcome: "queued",
  });
  expect((await t.posts()).map(({ address, text }) => [address, text])).toEqual([
    ["web:main/chat", "You said: hi"],
  ]);
  expect((await t.messages("web:main/chat")).map(({ role, text }) => [role, text])).toEqual([
    ["user", "hi"],
    ["assistant", "You said: hi"],
  ]);
  expect(await t.run(said.run ?? "")).toMatchObject({ agent: "echo", postedIn: "web:main/chat" });
  expect((await t.status()).runs).toHaveLength(1);
});

test("answers a reserved word without a run", async () => {
  await using t = await testGateway({ agents });
  expect(await t.say("status")).toMatchObject({ state: "replied", run: null });
});

test("collects a stream", async () => {
  await using t = await testGateway({
    agents: {
      two: agent.fn(async function* () {
        yield "one ";
        yield "two";
      }),
    },
  });
  const { run } = await t.post("go");
  const stream = await t.stream(run ?? "");
  await stream.ended;
  expect(stream.deltas).toEqual(["one ", "two"]);
});

test("is started again on the same store", async () => {
  await using t = await testGateway({ agents });
  await t.say("before");
  await t.restart();
  await t.say("after");
  expect((await t.posts()).map(({ text }) => text)).toEqual(["You said: before", "You said: after"]);
});

test("refuses to wait when it is stopped", async () => {
  const t = await testGateway({ agents: { slow: agent.fn(() => new Promise<string>(() => {})) } });
  const { run } = await t.post("hi");
  await t.reached(run ?? "", (state) => state === "running");
  const waiting = t.until("something that never comes", () => Promise.resolve(null));
  const stopped = t.stop();
  await expect(waiting).rejects.toThrow("stopped while waiting for something that never comes");
  await stopped;
});

test("records what a channel is given, over scripted failures and a restart", async () => {
  const chat = recordingChannel({ kind: "chat", limit: 10 });
  await using t = await testGateway({ agents, channels: [chat] });
  chat.script({ kind: "retry", reason: "busy" });
  await t.say("hello", { address: "chat:test/room" });
  expect(chat.posts("chat:test/room").map(({ text }) => text)).toEqual(["You said: ", "hello"]);
  expect(chat.attempts.map(({ outcome }) => outcome)).toEqual(["retry", "sent", "sent"]);
  await t.restart();
  const { turn } = await chat.receive("room", "x", { thread: "t1" });
  await t.settled(turn);
  expect(chat.posts("chat:test/room/t1").map(({ text }) => text)).toEqual(["You said: ", "x"]);
});
