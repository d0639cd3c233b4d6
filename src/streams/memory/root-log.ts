import { WaybillError } from "../../kernel/errors.ts";
import type { Chunk, StreamCounts, StreamEnd, StreamEvent, StreamHead } from "../stream.ts";
import { batchAfter, chunkSize, Encodings, type CountedBatch } from "./batch.ts";
import { compact, eventOverhead, type Cuts } from "./compaction.ts";
import type { LogReader, ReaderRecord } from "./log-reader.ts";

/** One stream of a log. `head` is the writer's that has the highest epoch. */
export interface StreamState {
  head: StreamHead;
  seq: number;
  bytes: number;
  firstAt: number | null;
  lastAt: number | null;
  closed: StreamEnd | null;
  /** Readers of this stream alone. */
  readers: number;
  readersMost: number;
}

const listedReaders = 50;

/**
 * The log of one stream root: the events of its tree in the order in which they were appended, the streams, and who
 * reads. A log without a stream is one that somebody reads before it is opened.
 */
export class RootLog {
  readonly root: string;
  readonly streams = new Map<string, StreamState>();
  readonly readers = new Set<LogReader>();
  /** Those of `readers` that have everything and wait for more. */
  readonly waiting = new Set<LogReader>();
  lastOffset = 0;
  /** Bytes of memory, about. */
  bytes = 0;
  /** `bytes` after the last compaction. */
  bytesCompacted = 0;
  endedAt: number | null = null;
  forgotten = false;
  #events: StreamEvent[] = [];
  #cuts: Map<StreamEvent, Cuts> = new Map();
  #seams: Set<StreamEvent> = new Set();
  readonly #encodings = new Encodings();
  #shared: (CountedBatch & { after: number; lastOffset: number }) | null = null;
  #left: ReaderRecord[] = [];
  #whole = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** Adds a stream, or gives a known one a new writer. */
  setWriter(head: StreamHead): StreamState {
    const known = this.streams.get(head.stream);
    if (known) {
      known.head = head;
      return known;
    }
    const alone = [...this.readers].filter((reader) => reader.stream === head.stream).length;
    const state: StreamState = {
      head,
      seq: 0,
      bytes: 0,
      firstAt: null,
      lastAt: null,
      closed: null,
      readers: alone,
      readersMost: alone + this.#whole,
    };
    this.streams.set(head.stream, state);
    return state;
  }

  /** Appends, and answers how many bytes of memory that took. */
  append(state: StreamState, chunk: Chunk, at: number): number {
    const size = chunkSize(chunk);
    state.seq += 1;
    this.lastOffset += 1;
    const { lastOffset: offset, root } = this;
    this.#events.push({ v: 1, root, stream: state.head.stream, seq: state.seq, offset, at, chunk });
    this.#encodings.forget(offset);
    state.bytes += size;
    state.firstAt ??= at;
    state.lastAt = at;
    this.bytes += size + eventOverhead;
    return size + eventOverhead;
  }

  /** What comes next for a reader that has everything up to `after`. */
  take(after: number, stream?: string): CountedBatch {
    if (
      stream === undefined &&
      this.#shared?.after === after &&
      this.#shared.lastOffset === this.lastOffset
    ) {
      if (this.#shared.batch.ended === this.#endsAt(this.#shared.batch.next)) return this.#shared;
    }
    const source = {
      events: this.#events,
      lastOffset: this.lastOffset,
      cuts: this.#cuts,
      seams: this.#seams,
      encodings: this.#encodings,
    };
    const { batch, counts } = batchAfter(source, after, stream);
    batch.ended = this.#endsAt(batch.next, stream);
    if (stream === undefined) this.#shared = { batch, counts, after, lastOffset: this.lastOffset };
    return { batch, counts };
  }

  #endsAt(next: number, stream?: string): boolean {
    const closed = stream !== undefined && (this.streams.get(stream)?.closed ?? null) !== null;
    return next === this.lastOffset && (this.endedAt !== null || closed);
  }

  /**
   * Merges what every connected reader was sent. A reader that is `patience` bytes' worth of events behind is not
   * waited for: it goes on in the merged form, where nothing is lost or given twice. Answers the bytes freed.
   */
  compact(patience: number): number {
    const stalled = this.lastOffset - Math.floor(patience / eventOverhead);
    let upTo = this.lastOffset;
    for (const reader of this.readers) if (reader.offset >= stalled) upTo = Math.min(upTo, reader.offset);
    const { events, cuts, seams, freed } = compact(this.#events, this.#cuts, upTo);
    this.#events = events;
    this.#cuts = cuts;
    this.#seams = seams;
    this.#encodings.clear();
    this.#shared = null;
    this.bytes -= freed;
    this.bytesCompacted = this.bytes;
    return freed;
  }

  /** Lets the events go. A reader that has not had them all is told when it asks for more. */
  forget(): void {
    this.forgotten = true;
    this.#events = [];
    this.#cuts = new Map();
    this.#seams = new Set();
    this.#encodings.clear();
    this.#shared = null;
  }

  /** @throws WaybillError `invalid_offset` */
  join(reader: LogReader): void {
    const { from } = reader;
    if (!Number.isSafeInteger(from) || from < 0 || from > this.lastOffset) {
      throw new WaybillError(
        "invalid_offset",
        `after: ${from} is no offset of the log ${this.root}, which ends at ${this.lastOffset}. Read from 0 instead.`,
        { after: from, last: this.lastOffset },
      );
    }
    this.readers.add(reader);
    if (reader.stream === undefined) this.#whole += 1;
    for (const state of this.#readBy(reader)) {
      if (reader.stream !== undefined) state.readers += 1;
      state.readersMost = Math.max(state.readersMost, state.readers + this.#whole);
    }
  }

  leave(reader: LogReader): void {
    this.waiting.delete(reader);
    if (!this.readers.delete(reader)) return;
    if (reader.stream === undefined) this.#whole -= 1;
    else for (const state of this.#readBy(reader)) state.readers -= 1;
    this.#left.push(reader.record());
    if (this.#left.length > 2 * listedReaders) this.#left = this.#left.slice(-listedReaders);
  }

  *#readBy(reader: LogReader): Iterable<StreamState> {
    if (reader.stream === undefined) yield* this.streams.values();
    else if (this.streams.has(reader.stream)) yield this.streams.get(reader.stream)!;
  }

  counts(): StreamCounts[] {
    const newest = [...this.readers].slice(-listedReaders).map((reader) => reader.record());
    const records = [...this.#left, ...newest].slice(-listedReaders);
    return [...this.streams.values()].map((state) => {
      const { stream, run, epoch, node } = state.head;
      return {
        stream,
        run,
        writer: `${run}/${epoch}`,
        node,
        firstAt: state.firstAt,
        lastAt: state.lastAt,
        events: state.seq,
        bytes: state.bytes,
        closed: state.closed,
        readersNow: state.readers + this.#whole,
        readersMost: state.readersMost,
        readers: records
          .filter((record) => record.stream === undefined || record.stream === stream)
          .map(({ id, from, sent, ended }) => {
            const { events, bytes } = sent.get(stream) ?? { events: 0, bytes: 0 };
            return { id, from, sent: events, bytes, ended };
          }),
      };
    });
  }
}
