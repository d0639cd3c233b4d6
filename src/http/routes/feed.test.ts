import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { httpGateway, sseEvents, until, type SseEvent } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { WireMessage } from "../api.ts";

const config = {
  agents: {
    echo: agent.fn(async (ctx) => `You said: ${ctx.text}`),
    broken: agent.fn(async () => {
      throw new Error("inside");
    }),
  },
};

function messagesOf(events: readonly SseEvent[]): { id: string | null; text: string }[] {
  return events
    .filter(({ event }) => event === "message")
    .map(({ id, data }) => ({ id, text: (JSON.parse(data) as WireMessage).text }));
}

function isMessage(text: string): (event: SseEvent) => boolean {
  return ({ event, data }) => event === "message" && (JSON.parse(data) as WireMessage).text === text;
}

function isEnd({ event, data }: SseEvent): boolean {
  return event === "run" && data.includes('"completed"');
}

test("a feed brings each message of its place as it is committed, and tells how its run goes", async () => {
  const gateway = await httpGateway(config);
  const response = await gateway.call("/v1/conversations/events?address=web:main/a");
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const events = sseEvents(response);
  await gateway.post("/v1/messages", { conversation: "b", text: "not here" });
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  const seen = await until(events, isEnd);
  expect(messagesOf(seen)).toEqual([
    { id: "1", text: "hi" },
    { id: "2", text: "You said: hi" },
  ]);
  expect(JSON.parse(seen.at(-1)?.data ?? "")).toEqual({
    address: "web:main/a",
    run: body.run,
    state: "completed",
  });
  expect(JSON.stringify(seen)).not.toContain("not here");
});

test("a feed that was cut goes on behind its last event: nothing lost, nothing twice", async () => {
  const gateway = await httpGateway(config);
  const url = await gateway.listen();
  const open = (headers: Record<string, string>, signal?: AbortSignal) =>
    fetch(`${url}/v1/conversations/events?address=web:main/a`, { headers, signal });
  const leave = new AbortController();
  const before = sseEvents(await open({}, leave.signal));
  await gateway.post("/v1/messages", { conversation: "a", text: "one" });
  const [first] = messagesOf(await until(before, isMessage("one")));
  leave.abort();
  await before.next().catch(() => {});
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "two" });
  await gateway.ended(body.run);
  const after = sseEvents(await open({ "last-event-id": first?.id ?? "" }));
  const missed = messagesOf(await until(after, isMessage("You said: two")));
  await gateway.post("/v1/messages", { conversation: "a", text: "three" });
  const live = messagesOf(await until(after, isMessage("You said: three")));
  expect([...missed, ...live].map(({ id, text }) => `${id} ${text}`)).toEqual(
    ["You said: one", "two", "You said: two", "three", "You said: three"].map(
      (text, i) => `${i + 2} ${text}`,
    ),
  );
});

test("a feed can begin in the past, and a long past comes whole", async () => {
  const gateway = await httpGateway(config);
  const many = 250;
  for (let i = 0; i < many; i += 1) {
    await gateway.post("/v1/sends", { to: "web:main/a", text: `news ${i}` });
  }
  const events = sseEvents(await gateway.call("/v1/conversations/events?address=web:main/a&after=0"));
  const seen = messagesOf(await until(events, isMessage(`news ${many - 1}`)));
  expect(seen.map(({ text }) => text)).toEqual(Array.from({ length: many }, (_, i) => `news ${i}`));
});

test("messages committed while a feed begins are not lost", async () => {
  const gateway = await httpGateway(config);
  const posts = Array.from({ length: 20 }, (_, i) =>
    gateway.post("/v1/sends", { to: "web:main/a", text: `news ${i}` }),
  );
  const events = sseEvents(await gateway.call("/v1/conversations/events?address=web:main/a&after=0"));
  await Promise.all(posts);
  let count = 0;
  const seen = messagesOf(await until(events, ({ event }) => event === "message" && (count += 1) === 20));
  expect(seen.map(({ id }) => Number(id))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
});

test("without an address the feed hints at what changes anywhere", async () => {
  const gateway = await httpGateway(config);
  const events = sseEvents(await gateway.call("/v1/conversations/events"));
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  const seen = await until(events, isEnd);
  expect(seen.map(({ event, data }) => ({ event, ...(JSON.parse(data) as object) }))).toContainEqual({
    event: "posted",
    address: "web:main/a",
  });
  expect(seen.at(-1)?.data).toContain(body.run);
});

test("a notice comes in the reader's language", async () => {
  const gateway = await httpGateway(config);
  const events = sseEvents(await gateway.call("/v1/conversations/events?address=web:main/a&locale=ko"));
  await gateway.post("/v1/messages", { conversation: "a", text: "hi", agent: "broken" });
  const seen = await until(events, ({ event, data }) => event === "message" && data.includes("assistant"));
  expect(messagesOf(seen).at(-1)?.text).toMatch(/^문제가 생겨 답변하지 못했습니다/);
});

test.each(["through fetch", "over a socket"])("a feed %s ends when the gateway stops", async (how) => {
  const gateway = await httpGateway(config);
  const where = "/v1/conversations/events?address=web:main/a&after=0";
  const events = sseEvents(
    how === "over a socket" ? await fetch((await gateway.listen()) + where) : await gateway.call(where),
  );
  await gateway.post("/v1/sends", { to: "web:main/a", text: "news" });
  await until(events, isMessage("news"));
  await gateway.running.stop(0);
  let last = await events.next();
  while (!last.done) last = await events.next();
});

describe("a quiet feed", () => {
  /** The timers of event streams (15 s) and feeds (10 s) in the test's hand; the rest of the gateway has its own. */
  function timers() {
    const due = new Map<number, () => void>();
    const clock = {
      now: () => systemClock.now(),
      after(ms: number, callback: () => void) {
        if (ms !== 15_000 && ms !== 10_000) return systemClock.after(ms, callback);
        due.set(ms, callback);
        return () => due.delete(ms);
      },
    };
    const fire = async (ms: number): Promise<void> => {
      while (!due.has(ms)) await nextTurn();
      const callback = due.get(ms);
      due.delete(ms);
      callback?.();
    };
    return { clock, fire };
  }

  test("sends a comment now and then", async () => {
    const { clock, fire } = timers();
    const gateway = await httpGateway(config, { clock, leaseMs: 60_000 });
    const response = await gateway.call("/v1/conversations/events?address=web:main/a");
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toMatch(/: connected\n\n$/);
    await fire(15_000);
    await fire(15_000);
    expect((await reader.read()).value).toBe(":\n\n");
    await reader.cancel();
  });

  test("looks into the store, so that a hint that was lost costs time and nothing else", async () => {
    const { clock, fire } = timers();
    const gateway = await httpGateway(config, { clock, leaseMs: 60_000 });
    vi.spyOn(gateway.running.parts.feed, "publish").mockImplementation(() => {});
    const events = sseEvents(await gateway.call("/v1/conversations/events?address=web:main/a&after=0"));
    const arrived = until(events, isMessage("news"));
    await gateway.post("/v1/sends", { to: "web:main/a", text: "news" });
    await fire(10_000);
    expect(messagesOf(await arrived)).toEqual([{ id: "1", text: "news" }]);
  });
});
