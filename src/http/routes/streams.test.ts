import http from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { gate, httpGateway, sseEvents, until } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import { manualClock, systemClock } from "../../kernel/clock.ts";
import { emptyTree, reduceEvent } from "../../streams/reduce.ts";
import type { StreamEvent } from "../../streams/stream.ts";
import type { WireProblem } from "../api.ts";

/** Agents whose tokens a test lets through. */
function stepping() {
  const [first, second] = [gate(), gate()];
  return {
    first,
    second,
    config: {
      agents: {
        steps: agent.fn(async function* () {
          yield "one ";
          await first.opened;
          yield "two ";
          await second.opened;
          yield "three";
        }),
        long: agent.fn(async (ctx) => {
          for (let i = 0; i < 2_400; i += 1) ctx.stream.text("x".repeat(400));
        }),
        failing: agent.fn(async function* () {
          yield "half an";
          throw new Error("inside");
        }),
      },
    },
  };
}

function textOf(events: readonly StreamEvent[], stream: string): { text: string; state: string } {
  const view = events.reduce(reduceEvent, emptyTree())[stream];
  return { text: view?.text ?? "", state: view?.state ?? "none" };
}

const read = async (response: Response) => ({
  status: response.status,
  next: response.headers.get("stream-next-offset"),
  upToDate: response.headers.get("stream-up-to-date"),
  closed: response.headers.get("stream-closed"),
  events: response.status === 200 ? ((await response.json()) as StreamEvent[]) : [],
});

test("a stream that ended is caught up with, and said to be closed", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const whole = await read(await gateway.call(`/v1/stream/${body.stream}`));
  expect(whole).toMatchObject({ status: 200, upToDate: "true", closed: "true" });
  expect(textOf(whole.events, body.stream ?? "")).toEqual({ text: "one two three", state: "completed" });
  expect(await read(await gateway.call(`/v1/stream/${body.stream}?offset=-1`))).toEqual(whole);
  const tail = await read(await gateway.call(`/v1/stream/${body.stream}?offset=${whole.next}`));
  expect(tail).toEqual({ ...whole, events: [] });
  const now = await read(await gateway.call(`/v1/stream/${body.stream}?offset=now`));
  expect(now).toMatchObject({ status: 200, next: whole.next, upToDate: "true", events: [] });
});

test("any offset resumes exactly behind it, and offsets sort as texts", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const whole = await read(await gateway.call(`/v1/stream/${body.stream}`));
  for (const { offset } of whole.events) {
    const rest = await read(await gateway.call(`/v1/stream/${body.stream}?offset=${offset}`));
    expect(rest.events).toEqual(whole.events.slice(offset));
  }
  expect(whole.next).toMatch(/^\d{16}$/);
});

test("what has not changed is not sent again", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const etag = (await gateway.call(`/v1/stream/${body.stream}`)).headers.get("etag") ?? "";
  const again = await gateway.call(`/v1/stream/${body.stream}`, { headers: { "if-none-match": etag } });
  expect(again.status).toBe(304);
});

test("a long stream comes in pieces, of which the last says so", async () => {
  const { config } = stepping();
  const gateway = await httpGateway(config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "long" });
  await gateway.ended(body.run);
  const events: StreamEvent[] = [];
  let pieces = 0;
  let offset = "-1";
  for (let closed: string | null = null; closed === null; pieces += 1) {
    const piece = await read(await gateway.call(`/v1/stream/${body.stream}?offset=${offset}`));
    events.push(...piece.events);
    offset = piece.next ?? "";
    closed = piece.closed;
    expect(piece.upToDate).toBe(closed);
  }
  expect(pieces).toBeGreaterThan(1);
  expect(textOf(events, body.stream ?? "").text).toBe("x".repeat(960_000));
});

test("a long poll waits for what comes next, and is empty at the end", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  const poll = async (offset: string) =>
    read(await gateway.call(`/v1/stream/${body.stream}?offset=${offset}&live=long-poll`));
  const seen: StreamEvent[] = [];
  let place = "-1";
  const take = async () => {
    const piece = await poll(place);
    seen.push(...piece.events);
    place = piece.next ?? "";
    return piece;
  };
  while (textOf(seen, body.stream ?? "").text !== "one ") await take();
  const waiting = take();
  first.open();
  expect((await waiting).closed).toBeNull();
  expect(textOf(seen, body.stream ?? "").text).toBe("one two ");
  second.open();
  while ((await take()).closed === null);
  expect(textOf(seen, body.stream ?? "")).toEqual({ text: "one two three", state: "completed" });
  expect(await poll(place)).toMatchObject({ status: 204, closed: "true", next: place });
});

test("a long poll without news ends after a while, with a cursor that goes on", async () => {
  const { config, first, second } = stepping();
  const manual = manualClock(Date.UTC(2026, 0, 1));
  let waits: (() => void) | null = null;
  // Only what waits 25 s is in the test's hand.
  const clock = {
    now: () => manual.now(),
    after: (ms: number, callback: () => void) => {
      if (ms !== 25_000) return systemClock.after(ms, callback);
      waits = callback;
      return () => {};
    },
  };
  const gateway = await httpGateway(config, { clock });
  const started = gateway.hint((one) => one.kind === "run" && one.state === "running");
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await started;
  const place = (await read(await gateway.call(`/v1/stream/${body.stream}?offset=now`))).next;
  const polling = gateway.call(`/v1/stream/${body.stream}?offset=now&live=long-poll&cursor=99999999`);
  await until(
    (async function* () {
      for (;;) yield await new Promise((resolve) => setImmediate(resolve));
    })(),
    () => waits !== null,
  );
  waits!();
  const answer = await polling;
  expect([answer.status, answer.headers.get("stream-up-to-date")]).toEqual([204, "true"]);
  expect(answer.headers.get("stream-next-offset")! >= place!).toBe(true);
  expect(answer.headers.get("stream-cursor")).toBe("100000000");
  first.open();
  second.open();
});

test.each(["through fetch", "over a socket"])(
  "SSE %s: batches of events, each with where to go on",
  async (how) => {
    const { config, first, second } = stepping();
    const gateway = await httpGateway(config);
    const url = how === "over a socket" ? await gateway.listen() : null;
    const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
    const where = `/v1/stream/${body.stream}?offset=-1&live=sse`;
    const response = url === null ? await gateway.call(where) : await fetch(url + where);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("cache-control")).toContain("no-transform");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const events = sseEvents(response);
    const log: StreamEvent[] = [];
    let control: Record<string, unknown> = {};
    const untilText = async (text: string) => {
      while (textOf(log, body.stream ?? "").text !== text || control["streamNextOffset"] !== place(log)) {
        const { value } = await events.next();
        if (value?.event === "data") log.push(...(JSON.parse(value.data) as StreamEvent[]));
        if (value?.event === "control") control = JSON.parse(value.data) as Record<string, unknown>;
      }
    };
    await untilText("one ");
    expect(control).toMatchObject({ upToDate: true });
    first.open();
    await untilText("one two ");
    second.open();
    const rest = await until(events, ({ data }) => data.includes('"streamClosed":true'));
    for (const { event, data } of rest)
      if (event === "data") log.push(...(JSON.parse(data) as StreamEvent[]));
    expect(textOf(log, body.stream ?? "")).toEqual({ text: "one two three", state: "completed" });
    expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1));
    expect((await events.next()).done).toBe(true);
  },
);

function place(log: readonly StreamEvent[]): string {
  return String(log.at(-1)?.offset ?? 0).padStart(16, "0");
}

test("an EventSource that reconnects goes on behind its last event", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const response = await gateway.call(`/v1/stream/${body.stream}?offset=-1&live=sse`, {
    headers: { "last-event-id": "0000000000000004" },
  });
  const [data] = await until(sseEvents(response), ({ event }) => event === "data");
  expect((JSON.parse(data!.data) as StreamEvent[])[0]?.offset).toBe(5);
});

test("a stream of a run that is queued reads as open and empty, and then as what it becomes", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  const queued = await gateway.post("/v1/messages", { conversation: "a", text: "y" });
  const { stream } = queued.body;
  const empty = await read(await gateway.call(`/v1/stream/${stream}`));
  expect(empty).toEqual({ status: 200, next: "0".repeat(16), upToDate: "true", closed: null, events: [] });
  const events = sseEvents(await gateway.call(`/v1/stream/${stream}?offset=-1&live=sse`));
  expect((await events.next()).value).toMatchObject({ event: "control" });
  first.open();
  second.open();
  const seen = await until(events, ({ data }) => data.includes('"streamClosed":true'));
  const log = seen.flatMap(({ event, data }) =>
    event === "data" ? (JSON.parse(data) as StreamEvent[]) : [],
  );
  expect(textOf(log, stream ?? "")).toEqual({ text: "one two three", state: "completed" });
});

test("who waits for a queued run is told when it is cancelled instead", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "y" });
  const events = sseEvents(await gateway.call(`/v1/stream/${body.stream}?offset=-1&live=sse`));
  expect((await events.next()).value).toMatchObject({ event: "control" });
  await gateway.post(`/v1/runs/${body.run}/cancel`);
  const seen = await until(events, ({ data }) => data.includes('"streamClosed":true'));
  const log = seen.flatMap(({ event, data }) =>
    event === "data" ? (JSON.parse(data) as StreamEvent[]) : [],
  );
  expect(textOf(log, body.stream ?? "")).toEqual({ text: "", state: "cancelled" });
  first.open();
  second.open();
});

test("after a restart a stream is told from what was committed, also to who had a part of it", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-http-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));
  const { config, first, second } = stepping();
  first.open();
  second.open();
  const before = await httpGateway(config, { dataDir });
  const good = (await before.post("/v1/messages", { conversation: "a", text: "x" })).body;
  await before.ended(good.run);
  const bad = (await before.post("/v1/messages", { conversation: "b", text: "x", agent: "failing" })).body;
  await before.ended(bad.run);
  const part = await read(await before.call(`/v1/stream/${good.stream}`));
  await before.running.stop(0);

  const gateway = await httpGateway(config, { dataDir });
  const whole = await read(await gateway.call(`/v1/stream/${good.stream}`));
  expect(whole).toMatchObject({ status: 200, upToDate: "true", closed: "true" });
  expect(textOf(whole.events, good.stream ?? "")).toEqual({ text: "one two three", state: "completed" });
  expect(whole.events.map((event) => event.seq)).toEqual(whole.events.map((_, i) => i + 1));

  const had = part.events.slice(0, 3);
  const rest = await read(await gateway.call(`/v1/stream/${good.stream}?offset=${had.at(-1)?.offset}`));
  expect(textOf([...had, ...rest.events], good.stream ?? "")).toEqual({
    text: "one two three",
    state: "completed",
  });
  const tail = await read(await gateway.call(`/v1/stream/${good.stream}?offset=${rest.next}`));
  expect(tail).toMatchObject({ events: [], closed: "true", next: rest.next });
  expect((await gateway.call(`/v1/stream/${good.stream}?offset=${rest.next}&live=long-poll`)).status).toBe(
    204,
  );

  const failed = await read(await gateway.call(`/v1/stream/${bad.stream}`));
  expect(textOf(failed.events, bad.stream ?? "")).toEqual({ text: "", state: "failed" });
  expect(failed.events.map((event) => event.chunk.type)).toContain("error");
});

test("what is no offset of the stream is refused, live or not", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  for (const offset of ["abc", "1.5", "-2", "1e3", "99999999999999999", "123"]) {
    for (const live of ["", "&live=sse", "&live=long-poll"]) {
      const { status, body: problem } = await gateway.get<WireProblem>(
        `/v1/stream/${body.stream}?offset=${offset}${live}`,
      );
      expect([offset, status, problem.code]).toEqual([offset, 400, "invalid_offset"]);
    }
  }
});

test("live reads need an offset", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  first.open();
  second.open();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  const { status, body: problem } = await gateway.get<WireProblem>(`/v1/stream/${body.stream}?live=sse`);
  expect([status, problem.code]).toEqual([400, "invalid_request"]);
});

test("HEAD tells where a stream stands, and opens nothing", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  for (const query of ["", "?offset=-1&live=sse"]) {
    const response = await gateway.call(`/v1/stream/${body.stream}${query}`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  }
  expect(gateway.running.parts.services.streams.size().readers).toBe(0);
  first.open();
  second.open();
});

test("a slow reader is paused: it holds up nobody, and loses nothing", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  const url = await gateway.listen();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "long" });
  const where = `${url}/v1/stream/${body.stream}?offset=-1&live=sse`;
  const slow = await new Promise<http.IncomingMessage>((resolve) => http.get(where, resolve));
  slow.pause();
  expect(await gateway.ended(body.run)).toBe("completed");
  const log: StreamEvent[] = [];
  for await (const { event, data } of sseEvents(new Response(Readable.toWeb(slow) as ReadableStream))) {
    if (event === "data") log.push(...(JSON.parse(data) as StreamEvent[]));
  }
  expect(textOf(log, body.stream ?? "")).toEqual({ text: "x".repeat(960_000), state: "completed" });
  first.open();
  second.open();
});

test("a reader that leaves is let go, and the run goes on", async () => {
  const { config, first, second } = stepping();
  const gateway = await httpGateway(config);
  const url = await gateway.listen();
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  const leave = new AbortController();
  const where = `${url}/v1/stream/${body.stream}?offset=-1&live=sse`;
  const events = sseEvents(await fetch(where, { signal: leave.signal }));
  await until(events, ({ data }) => data.includes("one "));
  const { streams } = gateway.running.parts.services;
  expect(streams.size().readers).toBe(1);
  leave.abort();
  await events.next().catch(() => {});
  while (streams.size().readers > 0) await new Promise((resolve) => setImmediate(resolve));
  first.open();
  second.open();
  expect(await gateway.ended(body.run)).toBe("completed");
});
