import { expect, test } from "vitest";
import { gate, httpGateway } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import type { Page, WireConversation, WireMessage, WireRun } from "../api.ts";

const config = {
  agents: {
    echo: agent.fn(async (ctx) => `You said: ${ctx.text} (${ctx.message.parts.length})`),
    broken: agent.fn(async () => {
      throw new Error("inside");
    }),
  },
};

test("a message is answered at its address, and both are told with their run", async () => {
  const gateway = await httpGateway(config);
  const { status, body } = await gateway.post("/v1/messages", {
    conversation: "team a/1",
    thread: "t 1",
    text: "hi",
    sender: { id: "u1", name: "Uma" },
  });
  expect(status).toBe(202);
  expect(body).toMatchObject({ address: "web:main/team%20a%2F1/t%201", outcome: "queued" });
  expect(await gateway.ended(body.run)).toBe("completed");
  const page = await gateway.get<Page<WireMessage>>(
    `/v1/messages?address=${encodeURIComponent(body.address)}`,
  );
  expect(page.body.next).toBeNull();
  expect(page.body.items).toMatchObject([
    {
      postSeq: 1,
      role: "user",
      text: "hi",
      run: body.run,
      turn: body.turn,
      sender: { id: "u1", name: "Uma" },
    },
    { postSeq: 2, role: "assistant", text: "You said: hi (1)", run: body.run, turn: body.turn },
  ]);
  for (const item of page.body.items) expect(new Date(item.at).toISOString()).toBe(item.at);
});

test("the same id again: the same answer, and nothing twice; with other content a conflict", async () => {
  const gateway = await httpGateway(config);
  const message = { conversation: "a", text: "hi", id: "m-1" };
  const first = await gateway.post("/v1/messages", message);
  await gateway.ended(first.body.run);
  const again = await gateway.post("/v1/messages", message);
  expect([again.status, again.body]).toEqual([202, first.body]);
  expect(again.headers.get("idempotent-replay")).toBe("true");
  const other = await gateway.post("/v1/messages", { ...message, text: "bye" });
  expect([other.status, other.body.code]).toEqual([409, "idempotency_conflict"]);
  const elsewhere = await gateway.post("/v1/messages", { ...message, conversation: "b" });
  expect(elsewhere.body.turn).not.toBe(first.body.turn);
  const { body } = await gateway.get<Page<WireRun>>("/v1/runs");
  expect(body.items.map((run) => run.id)).toEqual([elsewhere.body.run, first.body.run]);
});

test("at the same moment too, one message is one turn", async () => {
  const gateway = await httpGateway(config);
  const posts = Array.from({ length: 20 }, () =>
    gateway.post("/v1/messages", { conversation: "a", text: "hi", id: "m-1" }),
  );
  const turns = new Set((await Promise.all(posts)).map(({ body }) => body.turn));
  expect(turns.size).toBe(1);
});

test("without an id each post is a message of its own; the sender is the operator", async () => {
  const gateway = await httpGateway(config);
  const first = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  const second = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  expect(second.body.turn).not.toBe(first.body.turn);
  await gateway.ended(second.body.run);
  const { body } = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/a");
  expect(body.items.filter((item) => item.role === "user").map((item) => item.sender?.id)).toEqual([
    "operator",
    "operator",
  ]);
});

test("files reach the agent as parts, by data URL or link", async () => {
  const gateway = await httpGateway(config);
  const parts = [
    { type: "file", mediaType: "text/plain", url: "data:text/plain;base64,aGk=", filename: "a.txt" },
    { type: "file", mediaType: "image/png", url: "https://files.example/a.png" },
  ];
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "look", parts });
  await gateway.ended(body.run);
  const page = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/a");
  expect(page.body.items.map((item) => item.text)).toEqual(["look", "You said: look (3)"]);
  expect(page.body.items[0]?.parts).toEqual([{ type: "text", text: "look" }, ...parts]);
});

test("pages follow one another without gap, also while more is said", async () => {
  const gateway = await httpGateway(config);
  for (let i = 0; i < 3; i += 1) {
    const { body } = await gateway.post("/v1/messages", { conversation: "a", text: `hi ${i}` });
    await gateway.ended(body.run);
  }
  const seen: number[] = [];
  let next: string | null = "0";
  while (next !== null) {
    const { body }: { body: Page<WireMessage> } = await gateway.get(
      `/v1/messages?address=web:main/a&limit=2&next=${next}`,
    );
    seen.push(...body.items.map((item) => item.postSeq));
    next = body.next;
  }
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});

test("a reserved word is answered at once, without a run", async () => {
  const gateway = await httpGateway(config);
  const { status, body } = await gateway.post("/v1/messages", { conversation: "a", text: "/status" });
  expect([status, body.outcome, body.run, body.stream]).toEqual([202, "replied", null, null]);
  const page = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/a");
  expect(page.body.items.map((item) => item.text)).toEqual([
    "/status",
    "There is no record of a run in this conversation.",
  ]);
});

test("a notice is read in the reader's language", async () => {
  const gateway = await httpGateway(config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "broken" });
  await gateway.ended(body.run);
  const read = async (query: string, language?: string) => {
    const headers: Record<string, string> = language === undefined ? {} : { "accept-language": language };
    const page = await gateway.get<Page<WireMessage>>(`/v1/messages?address=web:main/a${query}`, headers);
    return page.body.items[1];
  };
  const english = `Something went wrong and I could not answer this. (run ${body.run})`;
  const korean = `문제가 생겨 답변하지 못했습니다. (실행 ${body.run})`;
  expect(await read("")).toMatchObject({ text: english, notice: { key: "run.failed" } });
  expect(await read("", "de, ko-KR;q=0.8, en;q=0.5")).toMatchObject({
    text: korean,
    parts: [{ type: "text", text: korean }],
  });
  expect((await read("&locale=en", "ko"))?.text).toBe(english);
});

test("a conversation keeps the kind that it was given, until it is given another", async () => {
  const gateway = await httpGateway(config);
  const kinds = async () => {
    const { body } = await gateway.get<Page<WireConversation>>("/v1/conversations");
    return Object.fromEntries(body.items.map((item) => [item.address, item.kind]));
  };
  await gateway.post("/v1/messages", { conversation: "room", kind: "channel", text: "hi" });
  await gateway.post("/v1/messages", { conversation: "room", text: "hi" });
  await gateway.post("/v1/messages", { conversation: "room", thread: "t", text: "hi" });
  await gateway.post("/v1/messages", { conversation: "mine", text: "hi" });
  expect(await kinds()).toEqual({
    "web:main/room": "channel",
    "web:main/room/t": "channel",
    "web:main/mine": "dm",
  });
});

test("conversations come latest first, in pages, with their threads or without", async () => {
  const hold = gate();
  const gateway = await httpGateway({ agents: { hold: agent.fn(async () => hold.opened.then(() => "x")) } });
  for (const [conversation, thread] of [["a"], ["b"], ["b", "t"], ["c"]]) {
    await gateway.post("/v1/messages", { conversation, thread, text: "hi" });
  }
  const list = async (query: string) => {
    const { body } = await gateway.get<Page<WireConversation>>(`/v1/conversations${query}`);
    return { addresses: body.items.map((item) => item.address), next: body.next };
  };
  const first = await list("?limit=3");
  const second = await list(`?limit=3&next=${first.next}`);
  expect([...first.addresses, ...second.addresses].toSorted()).toEqual([
    "web:main/a",
    "web:main/b",
    "web:main/b/t",
    "web:main/c",
  ]);
  expect(second.next).toBeNull();
  expect((await list("?threads=false")).addresses).not.toContain("web:main/b/t");
  expect((await list("?parent=web:main/b")).addresses).toEqual(["web:main/b/t"]);
  hold.open();
});
