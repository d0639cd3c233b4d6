import fc from "fast-check";
import { expect, test } from "vitest";
import { manualClock } from "../../kernel/clock.ts";
import type { Chunk, StreamBatch, StreamEvent, StreamWriter } from "../stream.ts";
import { memoryStreams, type MemoryStreams } from "./memory-streams.ts";

/**
 * Writers of several streams of one tree, readers that come, read, stall, go and come back at the offset that they
 * have, and compaction at any moment: whatever the order, each part's text reaches each reader once and whole.
 */

const streams = ["root", "left", "right"];

type Step =
  | { do: "text"; stream: number; part: number; text: string }
  | { do: "data"; stream: number }
  | { do: "compact" }
  | { do: "take"; reader: number }
  | { do: "leave"; reader: number }
  | { do: "check"; after: number; stream: number | null };

const at = fc.nat({ max: streams.length - 1 });
const reader = fc.nat({ max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("text" as const),
      stream: at,
      part: fc.nat({ max: 1 }),
      text: fc.string({ unit: fc.constantFrom("a", "é", "\ud83d", "\ude00", "한"), maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("data" as const), stream: at }) },
  { weight: 2, arbitrary: fc.constant({ do: "compact" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("take" as const), reader }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), reader }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("check" as const),
      after: fc.nat({ max: 200 }),
      stream: fc.option(at),
    }),
  },
);

/** What was appended, in the order of offsets. */
interface Written {
  stream: string;
  seq: number;
  chunk: Chunk;
}

/** What one client has put together, over all its connections. */
class Client {
  iterator: AsyncIterator<StreamBatch> | null = null;
  offset = 0;
  got: StreamEvent[] = [];

  async take(store: MemoryStreams): Promise<void> {
    this.iterator ??= store.read("root", { after: this.offset })[Symbol.asyncIterator]();
    const next = await this.iterator.next();
    if (next.done) throw new Error("the log ended before this client had everything");
    this.got.push(...next.value.events);
    this.offset = next.value.next;
    expect(next.value.encoded.map((json) => JSON.parse(json))).toEqual(next.value.events);
  }

  async leave(): Promise<void> {
    await this.iterator?.return?.();
    this.iterator = null;
  }
}

/** All that was written or read of each stream's parts, as text; other chunks by their JSON, in order. */
function partsOf(events: readonly { stream: string; chunk: Chunk }[]): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const { stream, chunk } of events) {
    const delta = chunk.type === "text-delta";
    const key = delta ? `${stream}/${chunk["id"]}` : `${stream} others`;
    const text = (parts[key] ?? "") + (delta ? chunk["delta"] : JSON.stringify(chunk));
    // A delta may be empty, and a part of which nothing is left is not there.
    if (text !== "") parts[key] = text;
  }
  return parts;
}

/** Each stream's events without a gap, beginning behind what was written up to `after`. */
function expectNoGaps(events: readonly StreamEvent[], written: readonly Written[], after: number): void {
  const last = new Map<string, number>();
  for (const { stream, seq } of written.slice(0, after)) last.set(stream, seq);
  let offset = after;
  for (const event of events) {
    expect(event.from ?? event.seq).toBe((last.get(event.stream) ?? 0) + 1);
    expect(event.offset).toBeGreaterThan(offset);
    last.set(event.stream, event.seq);
    offset = event.offset;
  }
}

/** Runs the steps; all clients then read to the end. */
async function runSteps(steps: readonly Step[], compactAboveBytes: number): Promise<void> {
  const store = memoryStreams({ clock: manualClock(), compactAboveBytes });
  const writers = streams.map((stream): StreamWriter =>
    store.open({ stream, root: "root", run: stream, parent: null, epoch: 1, node: "boot_1" }),
  );
  const clients = Array.from({ length: 4 }, () => new Client());
  const written: Written[] = [];
  const write = (index: number, chunk: Chunk) => {
    const stream = streams[index]!;
    written.push({ stream, seq: written.filter((one) => one.stream === stream).length + 1, chunk });
    writers[index]!.append(chunk);
  };
  for (const one of steps) {
    if (one.do === "text") write(one.stream, { type: "text-delta", id: `p${one.part}`, delta: one.text });
    else if (one.do === "data") write(one.stream, { type: "data-n", data: written.length });
    else if (one.do === "compact") store.compact("root");
    else if (one.do === "leave") await clients[one.reader]!.leave();
    else if (one.do === "check") await checkFrom(store, written, one.after, one.stream);
    // A live reader that has everything would wait.
    else if (clients[one.reader]!.offset < written.length) await clients[one.reader]!.take(store);
  }
  for (let after = 0; after <= written.length; after += 1) await checkFrom(store, written, after, null);
  await writers[0]!.close("completed", []);
  const end = written.length + streams.length;
  for (const client of clients) {
    while (client.offset < end) await client.take(store);
    expectNoGaps(client.got, written, 0);
    const got = client.got.filter((event) => event.chunk.type !== "data-stream-end");
    expect(partsOf(got)).toEqual(partsOf(written));
  }
  await expectCounts(store);
}

async function checkFrom(store: MemoryStreams, written: Written[], after: number, only: number | null) {
  const from = Math.min(after, written.length);
  const stream = only === null ? undefined : streams[only]!;
  const events: StreamEvent[] = [];
  for await (const batch of store.read("root", { after: from, stream, live: false }))
    events.push(...batch.events);
  expectNoGaps(events, written, from);
  const expected = written.slice(from).filter((one) => stream === undefined || one.stream === stream);
  expect(partsOf(events)).toEqual(partsOf(expected));
}

/** A reader from the start was sent what was written, in events and in bytes, whatever was merged. */
async function expectCounts(store: MemoryStreams): Promise<void> {
  for await (const _ of store.read("root", { reader: "last" }));
  for (const counts of store.counts("root")) {
    const { sent, bytes } = counts.readers.at(-1)!;
    expect({ sent, bytes }).toEqual({ sent: counts.events, bytes: counts.bytes });
  }
}

test("STRM-9: nothing is lost and nothing comes twice, whatever is compacted while whoever reads", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 120, size: "max" }),
      // Always, sometimes, and only when a step says so; the smaller, the sooner a reader is not waited for.
      fc.constantFrom(0, 1_000, 4_000, 1_000_000),
      runSteps,
    ),
    { numRuns: 300 },
  );
});

test("a batch does not end between events that cover one another's offsets, however many there are", async () => {
  // One stream writes text all the time while another writes what cannot be merged: far more than a batch holds.
  const store = memoryStreams({ clock: manualClock() });
  const open = (stream: string) =>
    store.open({ stream, root: "root", run: stream, parent: null, epoch: 1, node: "boot_1" });
  const [words, data] = [open("left"), open("right")];
  for (let i = 0; i < 2_000; i += 1) {
    words.append({ type: "text-delta", id: "t", delta: "a" });
    data.append({ type: "data-n", data: i });
  }
  store.compact("root");
  const client = new Client();
  // So that the places where a batch would end by number are not those where merging begins anew.
  client.offset = 100;
  let batches = 0;
  while (client.offset < 4_000) {
    const before = client.got.length;
    await client.take(store);
    await client.leave();
    expect(client.got.length - before).toBeLessThan(1_100);
    batches += 1;
  }
  expect(batches).toBeGreaterThan(1);
  expect(client.got.length).toBeLessThan(2_100);
  const { "left/t": text } = partsOf(client.got);
  expect(text).toBe("a".repeat(1_950));
  expect(client.got.filter((event) => event.stream === "right")).toHaveLength(1_950);
});
