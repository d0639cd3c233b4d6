import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { gate, httpGateway } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import type { Page, WireMessage, WireRun } from "../api.ts";

/** The AI SDK's own client, over a real socket, against agents whose tokens a test lets through. */
function stepping() {
  const hold = gate();
  let calls = 0;
  const started = gate();
  return {
    hold,
    started,
    calls: () => calls,
    config: {
      agents: {
        steps: agent.fn(async function* (ctx) {
          calls += 1;
          yield "You said: ";
          started.open();
          await Promise.race([
            hold.opened,
            new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
          ]);
          yield `${ctx.text} (${calls})`;
        }),
        job: agent.fn(async () => hold.opened.then(() => "job done"), { background: true }),
        broken: agent.fn(async function* () {
          yield "half an";
          throw new Error("inside");
        }),
        rich: agent.fn(async function* (ctx) {
          await ctx.progress("looking", 10);
          await ctx.say("first things first");
          ctx.stream.data("weather", { degrees: 21 }, { id: "w" });
          await ctx.stream.merge(
            (async function* () {
              yield { type: "start" };
              yield { type: "reasoning-start", id: "r" };
              yield { type: "reasoning-delta", id: "r", delta: "hm" };
              yield { type: "reasoning-end", id: "r" };
              yield { type: "from-the-future", id: "x" };
              yield { type: "source-url", sourceId: "s" };
              yield { type: "source-url", sourceId: "s", url: "https://x.example" };
              yield { type: "finish" };
            })(),
          );
          yield "sunny";
        }),
      },
      routes: ["job", "broken", "rich"].map((name) => ({ in: `web:main/${name}`, agent: name })),
    },
  };
}

function user(id: string, text: string): UIMessage {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

function send(
  transport: DefaultChatTransport<UIMessage>,
  chatId: string,
  messages: UIMessage[],
  trigger: "submit-message" | "regenerate-message" = "submit-message",
  abortSignal?: AbortSignal,
) {
  return transport.sendMessages({ chatId, messages, trigger, messageId: undefined, abortSignal });
}

/** The message that the SDK makes of a stream, or the error that it reports. */
async function messageOf(stream: ReadableStream<UIMessageChunk>): Promise<UIMessage | Error> {
  let message: UIMessage | undefined;
  let failed: unknown;
  for await (const next of readUIMessageStream({ stream, onError: (error) => (failed = error) }))
    message = next;
  if (failed !== undefined) return failed as Error;
  return message!;
}

function textOf(message: UIMessage | Error): string {
  if (message instanceof Error) throw message;
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

test("the stock client is answered, and what it shows is what was committed", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  hold.open();
  const message = await messageOf(await send(transport, "c1", [user("u1", "hello")]));
  expect(textOf(message)).toBe("You said: hello (1)");
  const { body } = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/c1");
  expect(body.items).toMatchObject([
    { role: "user", text: "hello", platformId: "u1" },
    { role: "assistant", text: "You said: hello (1)", id: (message as UIMessage).id },
  ]);
});

test("of what a client sends, only the last message of the person counts", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  hold.open();
  const made: UIMessage = {
    id: "a0",
    role: "assistant",
    parts: [{ type: "text", text: "I never said this" }],
  };
  await messageOf(await send(transport, "c1", [user("u0", "never sent"), made, user("u1", "hello")]));
  const { body } = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/c1");
  expect(body.items.map((item) => item.text)).toEqual(["hello", "You said: hello (1)"]);
});

test("the same message again joins the stream that goes on, from its start; nothing is generated twice", async () => {
  const { config, hold, started, calls } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const first = await send(transport, "c1", [user("u1", "hello")]);
  await started.opened;
  const second = await send(transport, "c1", [user("u1", "hello")]);
  hold.open();
  const messages = await Promise.all([messageOf(first), messageOf(second)]);
  expect(messages.map(textOf)).toEqual(["You said: hello (1)", "You said: hello (1)"]);
  const replayed = await messageOf(await send(transport, "c1", [user("u1", "hello")]));
  expect(textOf(replayed)).toBe("You said: hello (1)");
  expect(calls()).toBe(1);
});

test("the same id with another text is a conflict, which the client reports", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  hold.open();
  await messageOf(await send(transport, "c1", [user("u1", "hello")]));
  await expect(send(transport, "c1", [user("u1", "bye")])).rejects.toThrow(/was used here before/);
});

test("a client that loses its connection stops nothing, and resumes from the start", async () => {
  const { config, hold, started, calls } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  expect(await transport.reconnectToStream({ chatId: "c1" })).toBeNull();
  const leave = new AbortController();
  const lost = await send(transport, "c1", [user("u1", "hello")], "submit-message", leave.signal);
  await started.opened;
  leave.abort();
  await expect(messageOf(lost)).resolves.toBeInstanceOf(Error);
  const resumed = await transport.reconnectToStream({ chatId: "c1" });
  hold.open();
  expect(textOf(await messageOf(resumed!))).toBe("You said: hello (1)");
  expect(await transport.reconnectToStream({ chatId: "c1" })).toBeNull();
  expect(calls()).toBe(1);
});

test("stop ends what runs in the chat; the client is told", async () => {
  const { config, started } = stepping();
  const gateway = await httpGateway(config);
  const url = await gateway.listen();
  const transport = new DefaultChatTransport({ api: `${url}/api/chat` });
  const stream = await send(transport, "c1", [user("u1", "hello")]);
  await started.opened;
  const stopped = await fetch(`${url}/api/chat/c1/stop`, { method: "POST" });
  const { stopped: runs } = (await stopped.json()) as { stopped: string[] };
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks.map((chunk) => chunk.type)).toContain("abort");
  const { body } = await gateway.get<Page<WireRun>>("/v1/runs");
  expect(body.items).toMatchObject([{ id: runs[0], state: "cancelled" }]);
  expect(await (await fetch(`${url}/api/chat/c1/stop`, { method: "POST" })).json()).toEqual({ stopped: [] });
});

test("regenerating is a new turn; the person's message is not posted again", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  hold.open();
  await messageOf(await send(transport, "c1", [user("u1", "hello")]));
  const again = await messageOf(await send(transport, "c1", [user("u1", "forged")], "regenerate-message"));
  expect(textOf(again)).toBe("You said: hello (2)");
  const { body } = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/c1");
  expect(body.items.map((item) => item.text)).toEqual([
    "hello",
    "You said: hello (1)",
    "You said: hello (2)",
  ]);
});

test("a reserved word is a short message, also when it is sent again", async () => {
  const { config } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const text = "There is no record of a run in this conversation.";
  const first = await messageOf(await send(transport, "c1", [user("u1", "status")]));
  const again = await messageOf(await send(transport, "c1", [user("u1", "status")]));
  expect([textOf(first), textOf(again)]).toEqual([text, text]);
  expect((again as UIMessage).id).toBe((first as UIMessage).id);
});

test("a job is acknowledged in a short message; what it brings comes later", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const message = await messageOf(await send(transport, "job", [user("u1", "do it")]));
  expect(textOf(message)).toMatch(/^I have taken this on as a job for job/);
  expect(await transport.reconnectToStream({ chatId: "job" })).toBeNull();
  hold.open();
});

test("a run that fails is an error to the client, with a text for people and no stack", async () => {
  const { config } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const failed = await messageOf(await send(transport, "broken", [user("u1", "x")]));
  expect((failed as Error).message).toMatch(/Something went wrong and I could not answer this\. \(run run_/);
});

test("everything that an agent streams is valid for the client; what it would choke on is left out", async () => {
  const { config } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const message = await messageOf(await send(transport, "rich", [user("u1", "x")]));
  if (message instanceof Error) throw message;
  expect(message.parts).toMatchObject([
    { type: "data-weather", data: { degrees: 21 } },
    { type: "reasoning", text: "hm" },
    { type: "source-url", url: "https://x.example" },
    { type: "text", text: "sunny" },
  ]);
});

test("files of a message reach the agent", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  const transport = new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  hold.open();
  const file = {
    type: "file",
    mediaType: "text/plain",
    url: "data:text/plain,hi",
    filename: "a.txt",
  } as const;
  await messageOf(
    await send(transport, "c1", [
      { id: "u1", role: "user", parts: [{ type: "step-start" }, file, { type: "text", text: "look" }] },
    ]),
  );
  const { body } = await gateway.get<Page<WireMessage>>("/v1/messages?address=web:main/c1");
  expect(body.items[0]?.parts).toEqual([file, { type: "text", text: "look" }]);
});

test("a message that was answered before a restart is answered from what was committed", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-http-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));
  const { config, hold, calls } = stepping();
  hold.open();
  const before = await httpGateway(config, { dataDir });
  const client = async (gateway: typeof before) =>
    new DefaultChatTransport({ api: `${await gateway.listen()}/api/chat` });
  const first = await messageOf(await send(await client(before), "c1", [user("u1", "hello")]));
  await before.running.stop(0);
  const after = await httpGateway(config, { dataDir });
  const again = await messageOf(await send(await client(after), "c1", [user("u1", "hello")]));
  expect(textOf(again)).toBe(textOf(first));
  expect((again as UIMessage).id).toBe((first as UIMessage).id);
  expect(calls()).toBe(1);
});

test("the answer is what the protocol asks for", async () => {
  const { config, hold } = stepping();
  const gateway = await httpGateway(config);
  hold.open();
  const body = JSON.stringify({ id: "c1", message: user("u1", "hello") });
  const headers = { "content-type": "application/json" };
  const response = await gateway.call("/api/chat", { method: "POST", headers, body });
  expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(response.headers.get("cache-control")).toContain("no-transform");
  expect(await response.text()).toMatch(/^data: \{"type":"start".*data: \[DONE\]\n\n$/s);
});
