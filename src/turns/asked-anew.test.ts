/** What was asked before is answered anew: one question in the memory, one message of the person. */
import { expect, test } from "vitest";
import { agent } from "../agents/agent-factory.ts";
import { testGateway } from "../test-kit/test-gateway.ts";

const historian = () => {
  const histories: string[][] = [];
  let fails = false;
  const assistant = agent.fn((ctx) => {
    histories.push(ctx.history.map((item) => `${item.role}: ${item.text}`));
    if (fails) throw new Error("broken");
    return `answer ${histories.length}`;
  });
  return { assistant, histories, failNext: (yes: boolean) => (fails = yes) };
};

function regenerate(id: string, text: string) {
  const message = { id, role: "user", parts: [{ type: "text", text }] };
  const body = { id: "chat", trigger: "regenerate-message", messages: [message] };
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

test("an answer wished anew belongs to the message that stands, and the question is remembered once", async () => {
  const { assistant, histories } = historian();
  await using t = await testGateway({ agents: { assistant } });
  const first = await t.say("why?", { id: "m1" });
  await (await t.fetch("/api/chat", regenerate("m1", "why?"))).text();
  await t.settled();
  await t.say("and now?", { id: "m2" });
  expect(histories.at(-1)).toEqual(["user: why?", "assistant: answer 1", "assistant: answer 2"]);
  const [, again] = (await t.runs()).toReversed();
  expect(await t.why(again?.turn ?? "")).toMatchObject({
    turns: [{ message: { id: first.message } }],
  });
});

test("a reserved word that is wished anew is answered, and not posted again", async () => {
  await using t = await testGateway({ agents: { assistant: historian().assistant } });
  await t.say("help", { id: "m1" });
  await (await t.fetch("/api/chat", regenerate("m1", "help"))).text();
  await t.settled();
  expect((await t.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "assistant"]);
});

test("a chat does not answer anew what was said in a thread of it", async () => {
  const { assistant } = historian();
  await using t = await testGateway({ agents: { assistant } });
  await t.say("in the thread", { id: "m1", thread: "t1" });
  const refused = await t.fetch("/api/chat", regenerate("m1", "here"));
  expect(refused.status).toBe(409);
  expect((await t.messages("web:main/chat")).length).toBe(0);
});

test("a question that is retried after its run had begun is remembered once", async () => {
  const { assistant, histories, failNext } = historian();
  await using t = await testGateway({ agents: { assistant } });
  failNext(true);
  const said = await t.say("why?");
  failNext(false);
  await t.ended((await t.retry(said.run ?? "")).run ?? "");
  await t.settled();
  await t.say("and now?");
  expect(histories.at(-1)).toEqual(["user: why?", "assistant: answer 2"]);
});
