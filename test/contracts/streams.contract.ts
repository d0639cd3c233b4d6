import { describe, expect, test } from "vitest";
import { endChunk } from "../../src/streams/finish-chunks.ts";
import type { StreamBatch, StreamEvent, StreamStore } from "../../src/streams/stream.ts";
import { codeOf, collect, head, readNow, text, textOf, writeTo } from "../support/streams.ts";

/** What every store of streams must do. A store may write later: the suite flushes before it expects to read. */
export function streamStoreContract(name: string, makeStore: () => Promise<StreamStore> | StreamStore): void {
  describe(`${name} as a store of streams`, () => {
    const withStore = (title: string, body: (store: StreamStore) => Promise<void>) =>
      test(title, async () => {
        const store = await makeStore();
        try {
          await body(store);
        } finally {
          await store.stop();
        }
      });
    writing(withStore);
    reading(withStore);
    ending(withStore);
    counting(withStore);
  });
}

type WithStore = (title: string, body: (store: StreamStore) => Promise<void>) => void;

function writing(withStore: WithStore): void {
  withStore("STRM-5: a second writer with the same or a lower epoch is refused", async (store) => {
    const writer = store.open(head("a", { epoch: 2 }));
    await writer.flush();
    expect(await codeOf(() => writeTo(store, head("a", { epoch: 2 }), text("x")))).toBe("stream_fenced");
    expect(await codeOf(() => writeTo(store, head("a", { epoch: 1 }), text("x")))).toBe("stream_fenced");
    writer.append(text("mine"));
    await writer.flush();
    expect(textOf(await readNow(store, "a"))).toBe("mine");
  });

  withStore(
    "STRM-5: after a higher epoch opened it, the older writer can neither append nor close",
    async (store) => {
      const older = store.open(head("a", { epoch: 1 }));
      older.append(text("one "));
      await older.flush();
      const newer = store.open(head("a", { epoch: 2 }));
      newer.append(text("two"));
      await newer.flush();
      const late = async () => {
        older.append(text("late"));
        await older.flush();
      };
      expect(await codeOf(late)).toBe("stream_fenced");
      expect(await codeOf(() => older.close("failed", [text("late")]))).toBe("stream_fenced");
      await newer.close("completed", []);
      expect(await codeOf(late)).toBe("stream_fenced");
      const events = await readNow(store, "a");
      expect(textOf(events)).toBe("one two");
      expect(events.map((event) => event.seq)).toEqual([1, 2, 3]);
      expect(store.counts("a")[0]).toMatchObject({ closed: "completed" });
    },
  );

  withStore("STRM-5: reading publishes nothing, whoever reads and however often", async (store) => {
    const writer = store.open(head("a"));
    for (const delta of ["Hel", "lo", " ", "Wor", "ld"]) writer.append(text(delta));
    await writer.flush();
    const first = await readNow(store, "a");
    for (let i = 0; i < 3; i += 1) expect(await readNow(store, "a")).toEqual(first);
    expect(first.filter((event) => event.chunk.type === "text-delta")).toHaveLength(5);
    expect(store.counts("a")[0]).toMatchObject({ events: 5 });
  });

  withStore("a stream belongs to one root", async (store) => {
    await store.open(head("a")).flush();
    await store.open(head("a1", { root: "a", parent: "a" })).flush();
    expect(await codeOf(() => writeTo(store, head("a1", { root: "b", epoch: 9 }), text("x")))).toBe(
      "stream_fenced",
    );
    expect(store.rootOf("a1")).toBe("a");
    expect(store.rootOf("nobody")).toBeNull();
  });

  withStore(
    "every event of a tree is in the root's log once, with its stream and without gaps",
    async (store) => {
      const root = store.open(head("a"));
      const child = store.open(head("a1", { root: "a", parent: "a" }));
      root.append(text("r1"));
      await root.flush();
      child.append(text("c1"));
      await child.flush();
      root.append(text("r2"));
      await root.flush();
      const events = await readNow(store, "a");
      expect(events.map(({ stream, seq, offset }) => [stream, seq, offset])).toEqual([
        ["a", 1, 1],
        ["a1", 1, 2],
        ["a", 2, 3],
      ]);
      expect(events.every((event) => event.v === 1 && event.root === "a" && event.at > 0)).toBe(true);
      const alone = await readNow(store, "a", { stream: "a1" });
      expect(alone).toEqual([events[1]]);
    },
  );

  withStore("each event comes with its JSON", async (store) => {
    const writer = store.open(head('quo"ted'));
    writer.append(text("é \u{1F600} \ud83d \u2028"));
    writer.append({ type: "data-state", id: "s", data: { a: [1, null], '"': "\\" } });
    await writer.flush();
    for await (const batch of store.read('quo"ted', { live: false })) {
      expect(batch.encoded.map((json) => JSON.parse(json))).toEqual(batch.events);
    }
  });
}

function reading(withStore: WithStore): void {
  withStore("STRM-9: a reader that reconnects goes on after the last event it saw", async (store) => {
    const writer = store.open(head("a"));
    for (const delta of ["1", "2", "3"]) writer.append(text(delta));
    await writer.flush();
    const seen: StreamEvent[] = [];
    let after = 0;
    for await (const batch of store.read("a", {})) {
      seen.push(...batch.events);
      after = batch.next;
      if (after === 3) break;
    }
    for (const delta of ["4", "5"]) writer.append(text(delta));
    await writer.close("completed", []);
    for await (const batch of store.read("a", { after })) seen.push(...batch.events);
    expect(textOf(seen)).toBe("12345");
    expect(seen.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  withStore("STRM-9: from any offset a reader is given exactly what follows it", async (store) => {
    const writer = store.open(head("a"));
    for (let i = 0; i < 9; i += 1) writer.append(text(`${i}`));
    await writer.flush();
    for (let after = 0; after <= 9; after += 1) {
      expect(textOf(await readNow(store, "a", { after }))).toBe("012345678".slice(after));
    }
  });

  withStore(
    "STRM-9: a reader that does not read holds up neither the writer nor another reader",
    async (store) => {
      const writer = store.open(head("a"));
      const slow = store.read("a", {})[Symbol.asyncIterator]();
      writer.append(text("0"));
      await writer.flush();
      const first = await slow.next();
      const quick = collect(store.read("a", {}));
      let written = "0";
      for (let i = 1; i < 3_000; i += 1) {
        writer.append(text(` ${i}`));
        written += ` ${i}`;
      }
      await writer.close("completed", []);
      expect(textOf(await quick)).toBe(written);
      const rest: StreamEvent[] = [...(first.value as StreamBatch).events];
      for (let step = await slow.next(); !step.done; step = await slow.next())
        rest.push(...step.value.events);
      expect(textOf(rest)).toBe(written);
    },
  );

  withStore("STRM-9: two readers are both given everything, live", async (store) => {
    const writer = store.open(head("a"));
    const readers = [
      store.read("a", {})[Symbol.asyncIterator](),
      store.read("a", {})[Symbol.asyncIterator](),
    ];
    for (const delta of ["a", "b", "c"]) {
      const next = readers.map((reader) => reader.next());
      writer.append(text(delta));
      await writer.flush();
      for (const step of await Promise.all(next))
        expect(textOf((step.value as StreamBatch).events)).toBe(delta);
    }
  });

  withStore(
    "a log that nobody opened reads as open and empty, and goes on when it is opened",
    async (store) => {
      expect(store.ended("later")).toBeNull();
      const empty: StreamBatch[] = [];
      for await (const batch of store.read("later", { live: false })) empty.push(batch);
      expect(empty).toEqual([{ events: [], encoded: [], next: 0, ended: false }]);
      const waiting = collect(store.read("later", {}));
      const writer = store.open(head("later"));
      writer.append(text("hello"));
      await writer.close("completed", []);
      expect(textOf(await waiting)).toBe("hello");
    },
  );

  withStore("the abort signal ends a reader at once, also one that waits", async (store) => {
    const writer = store.open(head("a"));
    writer.append(text("x"));
    await writer.flush();
    const waits = new AbortController();
    const reader = store.read("a", { signal: waits.signal, after: 1 })[Symbol.asyncIterator]();
    const next = reader.next();
    waits.abort();
    expect((await next).done).toBe(true);
    const between = new AbortController();
    const other = store.read("a", { signal: between.signal })[Symbol.asyncIterator]();
    expect((await other.next()).done).toBe(false);
    writer.append(text("y"));
    await writer.flush();
    between.abort();
    expect((await other.next()).done).toBe(true);
    expect(await collect(store.read("a", { signal: AbortSignal.abort() }))).toEqual([]);
    expect(store.size().readers).toBe(0);
  });

  withStore("stopping the store ends who waits", async (store) => {
    await store.open(head("a")).flush();
    const waiting = collect(store.read("a", {}));
    await readNow(store, "a");
    await store.stop();
    expect(await waiting).toEqual([]);
  });

  withStore("an offset that the log has not reached is refused", async (store) => {
    await writeTo(store, head("a"), text("x"));
    for (const after of [2, -1, 0.5, Number.NaN]) {
      expect(await codeOf(() => readNow(store, "a", { after }))).toBe("invalid_offset");
      expect(await codeOf(() => collect(store.read("a", { after })))).toBe("invalid_offset");
    }
    expect(await codeOf(() => readNow(store, "unknown", { after: 1 }))).toBe("invalid_offset");
    expect(await readNow(store, "a", { after: 1 })).toEqual([]);
    expect(store.size().readers).toBe(0);
  });
}

function ending(withStore: WithStore): void {
  withStore("STRM-10: nothing is appended after the end, and ending again changes nothing", async (store) => {
    const writer = store.open(head("a"));
    writer.append(text("done"));
    await writer.close("completed", [text("!"), { type: "finish" }]);
    const before = await readNow(store, "a");
    expect(before.map((event) => event.chunk.type)).toEqual([
      "text-delta",
      "text-delta",
      "finish",
      "data-stream-end",
    ]);
    const late = async () => {
      writer.append({ type: "error", errorText: "late" });
      await writer.flush();
    };
    expect(await codeOf(late)).toBe("stream_closed");
    await writer.close("failed", [text("late")]);
    expect(await codeOf(() => writeTo(store, head("a", { epoch: 9 }), text("late")))).toBe("stream_closed");
    const child = head("a1", { root: "a", parent: "a" });
    expect(await codeOf(() => writeTo(store, child, text("late")))).toBe("stream_closed");
    expect(await readNow(store, "a")).toEqual(before);
    expect(store.ended("a")).toBe(true);
  });

  withStore("STRM-10: the last event of a stream says how it ended", async (store) => {
    for (const end of ["completed", "failed", "cancelled", "interrupted"] as const) {
      await store.open(head(end)).close(end, []);
      expect((await readNow(store, end)).map((event) => event.chunk)).toEqual([
        { type: "data-stream-end", id: "end", transient: true, data: { state: end } },
      ]);
      expect(store.counts(end)[0]).toMatchObject({ closed: end, events: 1 });
    }
  });

  withStore("a nested stream ends alone; the log ends with its root's own stream", async (store) => {
    const root = store.open(head("a"));
    const child = store.open(head("a1", { root: "a", parent: "a" }));
    child.append(text("child"));
    await child.flush();
    const whole = collect(store.read("a", {}));
    const alone = collect(store.read("a", { stream: "a1" }));
    await child.close("completed", []);
    expect(textOf(await alone)).toBe("child");
    expect(store.ended("a")).toBe(false);
    root.append(text("root"));
    await root.close("completed", []);
    expect(textOf(await whole)).toBe("childroot");
    expect(store.ended("a")).toBe(true);
  });

  withStore("a nested stream that is open when its root ends is closed as interrupted", async (store) => {
    const root = store.open(head("a"));
    const child = store.open(head("a1", { root: "a", parent: "a" }));
    child.append(text("half"));
    await child.flush();
    await root.close("completed", [text("all")]);
    const events = await readNow(store, "a");
    expect(events.at(-2)).toMatchObject({ stream: "a1", chunk: { data: { state: "interrupted" } } });
    expect(events.at(-1)).toMatchObject({ stream: "a", chunk: { data: { state: "completed" } } });
    const late = async () => {
      child.append(text("late"));
      await child.flush();
    };
    expect(await codeOf(late)).toBe("stream_closed");
    await child.close("completed", [text("late")]);
    expect(await readNow(store, "a")).toEqual(events);
  });

  withStore(
    "who reads at the end of an ended log is told so, with an empty batch if need be",
    async (store) => {
      await store.open(head("a")).close("completed", [text("x")]);
      const batches: StreamBatch[] = [];
      for await (const batch of store.read("a", { after: 2 })) batches.push(batch);
      expect(batches).toEqual([{ events: [], encoded: [], next: 2, ended: true }]);
    },
  );

  withStore("ended logs are forgotten, open ones never", async (store) => {
    await store.open(head("old")).close("completed", [text("x")]);
    await writeTo(store, head("open"), text("x"));
    store.forgetEnded(0);
    expect(store.ended("old")).toBeNull();
    expect(store.rootOf("old")).toBeNull();
    expect(textOf(await readNow(store, "open"))).toBe("x");
    expect(store.size()).toMatchObject({ open: 1, ended: 0 });
  });
}

function counting(withStore: WithStore): void {
  withStore("what was written and what each reader was sent are counted, by stream", async (store) => {
    const root = store.open(head("a", { run: "run_1", node: "boot_1", epoch: 3 }));
    const child = store.open(head("a1", { root: "a", parent: "a", run: "run_2" }));
    const whole = collect(store.read("a", { reader: "browser" }));
    root.append(text("é\u{1F600}"));
    await root.flush();
    child.append(text("abc"));
    await child.close("completed", []);
    const gone = store.read("a", { reader: "gone", after: 2 })[Symbol.asyncIterator]();
    await gone.next();
    await gone.return?.();
    await root.close("completed", []);
    await whole;
    const [first, second] = store.counts("a");
    expect(first).toMatchObject({ stream: "a", run: "run_1", writer: "run_1/3", node: "boot_1", events: 2 });
    expect(first).toMatchObject({ closed: "completed", readersNow: 0, readersMost: 2 });
    expect(first!.bytes).toBe(6 + JSON.stringify(endChunk("completed")).length);
    expect(first!.firstAt).toBeLessThanOrEqual(first!.lastAt!);
    const ids = (readers: { id: string }[]) => readers.toSorted((a, b) => a.id.localeCompare(b.id));
    expect(ids(first!.readers)).toEqual([
      { id: "browser", from: 0, sent: 2, bytes: first!.bytes, ended: "closed" },
      { id: "gone", from: 2, sent: 0, bytes: 0, ended: "left" },
    ]);
    expect(ids(second!.readers)).toEqual([
      { id: "browser", from: 0, sent: 2, bytes: second!.bytes, ended: "closed" },
      { id: "gone", from: 2, sent: 1, bytes: second!.bytes - 3, ended: "left" },
    ]);
    expect(store.counts("unknown")).toEqual([]);
  });

  withStore("the list of readers is bounded, and a reader of one stream counts there only", async (store) => {
    await writeTo(store, head("a"), text("x"));
    await writeTo(store, head("a1", { root: "a", parent: "a" }), text("y"));
    for (let i = 0; i < 120; i += 1) await readNow(store, "a", { reader: `r${i}` });
    expect(store.counts("a")[0]!.readers.map((reader) => reader.id)).toEqual(
      Array.from({ length: 50 }, (_, i) => `r${i + 70}`),
    );
    const alone = store.read("a", { reader: "alone", stream: "a1" })[Symbol.asyncIterator]();
    await alone.next();
    expect(store.counts("a").map((counts) => counts.readersNow)).toEqual([0, 1]);
    expect(store.counts("a")[1]!.readers.at(-1)).toMatchObject({ id: "alone", sent: 1, ended: "open" });
    expect(store.size()).toMatchObject({ open: 2, readers: 1 });
  });
}
