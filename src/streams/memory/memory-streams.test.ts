import { expect, test } from "vitest";
import { manualClock } from "../../kernel/clock.ts";
import type { Chunk, StreamBatch, StreamHead, StreamStore } from "../stream.ts";
import { memoryStreams } from "./memory-streams.ts";

const head = (stream: string, root = stream): StreamHead => ({
  stream,
  root,
  run: `run_${stream}`,
  parent: stream === root ? null : root,
  epoch: 1,
  node: "boot_1",
});
const text = (delta: string): Chunk => ({ type: "text-delta", id: "t", delta });
const open = (store: StreamStore, root: string, options = {}) =>
  store.read(root, options)[Symbol.asyncIterator]();

async function take(reader: AsyncIterator<StreamBatch>): Promise<StreamBatch> {
  const next = await reader.next();
  if (next.done) throw new Error("the reader has ended");
  return next.value;
}

test("what one turn of the event loop appends is one batch, the same for all who wait", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  const waiting = [take(open(store, "a")), take(open(store, "a"))];
  await new Promise(setImmediate);
  for (const delta of ["a", "b", "c"]) {
    writer.append(text(delta));
    await Promise.resolve();
  }
  const [one, two] = await Promise.all(waiting);
  expect(one!.events.map((event) => event.chunk["delta"])).toEqual(["a", "b", "c"]);
  expect(two).toBe(one);
});

test("a large log is compacted, and a connected reader still gets each delta as it was written", async () => {
  const store = memoryStreams({ clock: manualClock(), compactAboveBytes: 100_000 });
  const writer = store.open(head("a"));
  const reader = open(store, "a");
  let got = 0;
  for (let i = 0; i < 200; i += 1) {
    for (let k = 0; k < 100; k += 1) writer.append(text("token "));
    while (got < (i + 1) * 100) {
      const { events, encoded } = await take(reader);
      expect(JSON.parse(encoded.at(-1)!)).toEqual(events.at(-1));
      expect(events.every((event) => event.from === undefined && event.chunk["delta"] === "token ")).toBe(
        true,
      );
      got += events.length;
    }
  }
  const late = await take(open(store, "a"));
  expect(late.events[0]!.from).toBe(1);
  expect(late.events.length).toBeLessThan(1_000);
  // 120,000 bytes of text and 8 bytes for each of 20,000 tokens are there to stay.
  expect(store.size().bytes).toBeLessThan(280_000 + 130_000);
});

test("STRM-9: a stalled reader does not keep the log from being bounded, and loses nothing by it", async () => {
  const store = memoryStreams({ clock: manualClock(), compactAboveBytes: 100_000 });
  const writer = store.open(head("a"));
  const reader = open(store, "a");
  writer.append(text("0 "));
  let got = (await take(reader)).events[0]!.chunk["delta"] as string;
  let written = "0 ";
  for (let i = 1; i < 50_000; i += 1) {
    writer.append(text(`${i} `));
    written += `${i} `;
  }
  // The text, 8 bytes a token, and the size from which on it is compacted with a share to grow.
  expect(store.size().bytes).toBeLessThan((written.length + 8 * 50_000) * 1.25 + 125_000);
  await writer.close("completed", []);
  for (let next = await reader.next(); !next.done; next = await reader.next()) {
    for (const { chunk } of next.value.events) got += chunk.type === "text-delta" ? chunk["delta"] : "";
  }
  expect(got).toBe(written);
});

test("a delta that carries more than text is never merged", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  const signed = { ...text("x"), providerMetadata: { p: { signature: "s" } } };
  for (const chunk of [text("a"), text("b"), signed, text("c"), text("d")]) writer.append(chunk);
  store.compact("a");
  const { events } = await take(open(store, "a"));
  expect(events.map((event) => event.chunk)).toEqual([text("ab"), signed, text("cd")]);
  expect(events.map(({ from, seq }) => [from ?? seq, seq])).toEqual([
    [1, 2],
    [3, 3],
    [4, 5],
  ]);
});

test("a merged delta is never longer than 65,536", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  for (let i = 0; i < 200; i += 1) writer.append(text("x".repeat(1_000)));
  store.compact("a");
  store.compact("a");
  const { events } = await take(open(store, "a"));
  expect(events.map((event) => (event.chunk["delta"] as string).length)).toEqual([
    65_000, 65_000, 65_000, 5_000,
  ]);
});

test("reasoning and a tool's input are merged as text is", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  const thought = (delta: string) => ({ type: "reasoning-delta", id: "r", delta });
  const input = (inputTextDelta: string) => ({ type: "tool-input-delta", toolCallId: "c", inputTextDelta });
  for (const chunk of [thought("h"), thought("m"), input("{"), input("}"), text("a")]) writer.append(chunk);
  store.compact("a");
  const { events } = await take(open(store, "a"));
  expect(events.map((event) => event.chunk)).toEqual([thought("hm"), input("{}"), text("a")]);
});

test("a chunk that is no JSON is refused to its writer and never reaches a reader", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  expect(() => writer.append({ type: "data-n", data: 1n })).toThrow(TypeError);
  expect(() => writer.append({ ...text("x"), extra: 1n })).toThrow(TypeError);
  writer.append(text("y"));
  const { events } = await take(open(store, "a", { live: false }));
  expect(events).toMatchObject([{ seq: 1, offset: 1, chunk: text("y") }]);
});

test("ended logs are forgotten by age", async () => {
  const clock = manualClock();
  const store = memoryStreams({ clock });
  await store.open(head("a")).close("completed", []);
  clock.advance(1_000);
  await store.open(head("b")).close("completed", []);
  store.open(head("c")).append(text("x"));
  clock.advance(500);
  expect(store.forgetEnded(1_000)).toBe(1);
  expect([store.ended("a"), store.ended("b"), store.ended("c")]).toEqual([null, true, false]);
  expect(store.forgetEnded(0)).toBe(1);
  expect(store.size()).toMatchObject({ open: 1, ended: 0 });
});

test("ended logs are bounded by bytes: compacted first, then the oldest go, but none that is being read", async () => {
  const store = memoryStreams({ clock: manualClock(), maxBytes: 60_000 });
  const end = async (name: string, chunks: Chunk[]) => {
    const writer = store.open(head(name));
    for (const chunk of chunks) writer.append(chunk);
    await writer.close("completed", []);
  };
  const words = Array.from({ length: 250 }, () => text("token "));
  // 47,500 bytes each as written; with two of them the older is compacted and both stay.
  await end("words1", words);
  await end("words2", words);
  expect([store.ended("words1"), store.ended("words2")]).toEqual([true, true]);
  expect((await take(open(store, "words1"))).events[0]).toMatchObject({ from: 1, seq: 250 });
  const blob = { type: "data-blob", data: "x".repeat(25_000) };
  const open1 = open(store, "words1");
  store.open(head("open")).append({ type: "data-blob", data: "x".repeat(100_000) });
  // A reader that has begun and not ended: batches hold 512 events.
  const many = store.open(head("many"));
  for (let i = 0; i < 600; i += 1) many.append({ type: "data-n", data: i });
  const reading = open(store, "many");
  await take(reading);
  await many.close("completed", []);
  for (const name of ["blob1", "blob2", "blob3"]) await end(name, [blob]);
  expect([store.ended("words1"), store.ended("words2")]).toEqual([null, null]);
  expect([store.ended("many"), store.ended("open"), store.ended("blob3")]).toEqual([true, false, true]);
  await open1.return?.();
  await reading.return?.();
});

test("who still reads a log that is forgotten is told, and who waited for its end gets it", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  for (let i = 0; i < 600; i += 1) writer.append({ type: "data-n", data: i });
  const behind = open(store, "a");
  await take(behind);
  const waiting = take(open(store, "a", { after: 600 }));
  await Promise.resolve();
  await writer.close("completed", []);
  store.forgetEnded(0);
  expect((await waiting).ended).toBe(true);
  await expect(behind.next()).rejects.toMatchObject({ code: "unknown_stream" });
  expect((await behind.next()).done).toBe(true);
  expect(store.size()).toEqual({ open: 0, ended: 0, bytes: 0, readers: 0 });
});

test("a root that was only asked for leaves nothing behind", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const abort = new AbortController();
  const next = open(store, "nobody", { signal: abort.signal }).next();
  await Promise.resolve();
  expect(store.size().readers).toBe(1);
  abort.abort();
  expect((await next).done).toBe(true);
  expect(store.size()).toEqual({ open: 0, ended: 0, bytes: 0, readers: 0 });
  expect(store.ended("nobody")).toBeNull();
});

test("one reader that asks twice before it is answered gets its answers in order", async () => {
  const store = memoryStreams({ clock: manualClock() });
  const writer = store.open(head("a"));
  const reader = open(store, "a");
  const [one, two] = [take(reader), take(reader)];
  await new Promise(setImmediate);
  writer.append(text("1"));
  expect((await one).next).toBe(1);
  writer.append(text("2"));
  expect((await two).next).toBe(2);
});

test("when all open logs together are large, each is compacted early", () => {
  const store = memoryStreams({ clock: manualClock(), maxBytes: 1_000_000 });
  const writers = Array.from({ length: 20 }, (_, i) => store.open(head(`s${i}`)));
  for (let i = 0; i < 5_000; i += 1) for (const writer of writers) writer.append(text("token "));
  // As written these are 20 logs of 950,000 bytes, none of which is past its own limit.
  expect(store.size().bytes).toBeLessThan(20 * (5_000 * 14 * 1.25 + 90_000));
});
