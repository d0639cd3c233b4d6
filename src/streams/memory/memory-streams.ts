import type { Clock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { endChunk } from "../finish-chunks.ts";
import type {
  Chunk,
  ReadOptions,
  StreamBatch,
  StreamCounts,
  StreamEnd,
  StreamHead,
  StreamStore,
  StreamWriter,
} from "../stream.ts";
import { LogReader, type ReaderHost } from "./log-reader.ts";
import { RootLog, type StreamState } from "./root-log.ts";

export interface MemoryStreamsOptions {
  clock: Clock;
  /**
   * What logs that have ended may take together, in bytes; the newest is always kept. Also the size of all open logs
   * from which on they are compacted early. Default 32 MiB.
   */
  maxBytes?: number;
  /**
   * The size of one log from which on it is compacted, in bytes. A reader that is so many bytes' worth of events
   * behind is not waited for. Default 1 MiB.
   */
  compactAboveBytes?: number;
}

export interface MemoryStreams extends StreamStore {
  /** Compacts a log now, as if it had passed its size; for tests. */
  compact(root: string): void;
}

/** Compacting less than this frees too little. Bytes. */
const worthCompacting = 65_536;

/**
 * Streams in the memory of this process. Bounds: an open log holds the compact form of what was written (its text and
 * 8 bytes a token) and about `compactAboveBytes` beside it, more only for what cannot be merged; ended logs hold
 * `maxBytes` together. Sizes are of memory, estimated.
 */
export function memoryStreams(options: MemoryStreamsOptions): MemoryStreams {
  return new MemoryStore(options);
}

class MemoryStore implements MemoryStreams, ReaderHost {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #compactAbove: number;
  readonly #logs = new Map<string, RootLog>();
  readonly #logOf = new Map<string, RootLog>();
  /** In the order in which they ended: as they were written, and compacted to make room. */
  readonly #ended = new Set<RootLog>();
  readonly #endedCompact = new Set<RootLog>();
  #newest: RootLog | null = null;
  #openBytes = 0;
  #endedBytes = 0;
  #openStreams = 0;
  #readers = 0;
  #unnamed = 0;
  #stopped = false;
  readonly #toWake = new Set<RootLog>();

  constructor({ clock, maxBytes = 32 * 1_048_576, compactAboveBytes = 1_048_576 }: MemoryStreamsOptions) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#compactAbove = compactAboveBytes;
  }

  open(head: StreamHead): StreamWriter {
    const { stream, root, epoch } = head;
    const other = this.#logOf.get(stream);
    if (other && other.root !== root) {
      throw fenced(
        stream,
        `it belongs to the root ${other.root}, not to ${root}; a new call needs a new stream id`,
      );
    }
    const log = this.#logs.get(root) ?? this.#add(root);
    const known = log.streams.get(stream);
    if (known?.closed || log.endedAt !== null) throw closed(stream);
    if (known && epoch <= known.head.epoch) {
      throw fenced(
        stream,
        `epoch ${known.head.epoch} writes it; opening it again needs a higher one than ${epoch}`,
      );
    }
    const state = log.setWriter({ ...head });
    if (!known) {
      this.#logOf.set(stream, log);
      this.#openStreams += 1;
    }
    return new MemoryWriter(this, log, state);
  }

  append(log: RootLog, state: StreamState, chunk: Chunk): void {
    this.#openBytes += log.append(state, chunk, this.#clock.now());
    this.#wakeSoon(log);
    const limit =
      this.#openBytes > this.#maxBytes ? Math.min(worthCompacting, this.#compactAbove) : this.#compactAbove;
    // A share of what is there has to be added first, so that compacting takes the same time for each append.
    const due = Math.max(limit, log.bytesCompacted + limit / 4, log.bytesCompacted * 1.25);
    if (log.bytes > due) this.#openBytes -= log.compact(limit);
  }

  close(log: RootLog, state: StreamState, end: StreamEnd, last: readonly Chunk[]): void {
    for (const chunk of last) this.append(log, state, chunk);
    if (state.head.stream === log.root) {
      // Children before their parents.
      for (const other of [...log.streams.values()].toReversed()) {
        if (other !== state && !other.closed) this.#end(log, other, "interrupted");
      }
    }
    this.#end(log, state, end);
    if (state.head.stream === log.root) this.#endLog(log);
  }

  #end(log: RootLog, state: StreamState, end: StreamEnd): void {
    this.append(log, state, endChunk(end));
    state.closed = end;
    this.#openStreams -= 1;
  }

  #endLog(log: RootLog): void {
    log.endedAt = this.#clock.now();
    this.#ended.add(log);
    this.#newest = log;
    this.#openBytes -= log.bytes;
    this.#endedBytes += log.bytes;
    this.#makeRoom();
  }

  /** Compacts ended logs, then forgets them, the oldest first. One that is being read is not forgotten for room. */
  #makeRoom(): number {
    for (const log of this.#ended) {
      if (this.#endedBytes <= this.#maxBytes) return 0;
      this.#endedBytes -= log.compact(this.#compactAbove);
      this.#ended.delete(log);
      this.#endedCompact.add(log);
    }
    let forgotten = 0;
    for (const log of this.#endedCompact) {
      if (this.#endedBytes <= this.#maxBytes) break;
      if (log === this.#newest || log.readers.size > 0) continue;
      this.#forget(log);
      forgotten += 1;
    }
    return forgotten;
  }

  #forget(log: RootLog): void {
    // Who waits is owed the end; its wake-up may not have come yet.
    for (const reader of log.waiting) reader.wake();
    if (this.#newest === log) this.#newest = null;
    this.#ended.delete(log);
    this.#endedCompact.delete(log);
    this.#endedBytes -= log.bytes;
    this.#logs.delete(log.root);
    for (const stream of log.streams.keys()) this.#logOf.delete(stream);
    log.forget();
  }

  #add(root: string): RootLog {
    const log = new RootLog(root);
    this.#logs.set(root, log);
    return log;
  }

  rootOf(stream: string): string | null {
    return this.#logOf.get(stream)?.root ?? null;
  }

  ended(root: string): boolean | null {
    const log = this.#logs.get(root);
    return log && log.streams.size > 0 ? log.endedAt !== null : null;
  }

  read(root: string, options: ReadOptions): AsyncIterable<StreamBatch> {
    return {
      [Symbol.asyncIterator]: () => {
        const id = options.reader ?? `reader-${(this.#unnamed += 1)}`;
        const reader = new LogReader(this, root, id, options);
        if (this.#stopped) reader.handleEvent();
        return reader;
      },
    };
  }

  logToRead(root: string): RootLog {
    this.#readers += 1;
    return this.#logs.get(root) ?? this.#add(root);
  }

  left(log: RootLog): void {
    this.#readers -= 1;
    if (log.streams.size === 0 && log.readers.size === 0) this.#logs.delete(log.root);
  }

  /**
   * Once per turn of the event loop for all logs: what one turn appends, by many runs, costs each reader one batch.
   * In a loop with nothing else to do the next turn is at once.
   */
  #wakeSoon(log: RootLog): void {
    if (log.waiting.size === 0) return;
    if (this.#toWake.size === 0) setImmediate(() => this.#wake());
    this.#toWake.add(log);
  }

  #wake(): void {
    const logs = [...this.#toWake];
    this.#toWake.clear();
    for (const log of logs) for (const reader of log.waiting) reader.wake();
  }

  counts(root: string): StreamCounts[] {
    return this.#logs.get(root)?.counts() ?? [];
  }

  forgetEnded(olderThanMs: number): number {
    const before = this.#clock.now() - olderThanMs;
    let forgotten = 0;
    for (const log of [...this.#endedCompact, ...this.#ended]) {
      if (log.endedAt! > before) continue;
      this.#forget(log);
      forgotten += 1;
    }
    return forgotten + this.#makeRoom();
  }

  compact(root: string): void {
    const log = this.#logs.get(root);
    if (!log) return;
    const freed = log.compact(this.#compactAbove);
    if (log.endedAt === null) this.#openBytes -= freed;
    else this.#endedBytes -= freed;
  }

  size(): { open: number; ended: number; bytes: number; readers: number } {
    return {
      open: this.#openStreams,
      ended: this.#ended.size + this.#endedCompact.size,
      bytes: this.#openBytes + this.#endedBytes,
      readers: this.#readers,
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const log of this.#logs.values()) for (const reader of log.readers) reader.handleEvent();
  }
}

class MemoryWriter implements StreamWriter {
  readonly head: StreamHead;
  readonly #store: MemoryStore;
  readonly #log: RootLog;
  readonly #state: StreamState;

  constructor(store: MemoryStore, log: RootLog, state: StreamState) {
    this.#store = store;
    this.#log = log;
    this.#state = state;
    this.head = state.head;
  }

  append(chunk: Chunk): void {
    this.#checkFence();
    if (this.#state.closed) throw closed(this.head.stream);
    this.#store.append(this.#log, this.#state, chunk);
  }

  async flush(): Promise<void> {}

  async close(end: StreamEnd, last: readonly Chunk[]): Promise<void> {
    this.#checkFence();
    if (!this.#state.closed) this.#store.close(this.#log, this.#state, end, last);
  }

  #checkFence(): void {
    const { epoch } = this.#state.head;
    if (epoch === this.head.epoch) return;
    throw fenced(this.head.stream, `epoch ${epoch} has taken it over from ${this.head.epoch}; stop this run`);
  }
}

function fenced(stream: string, why: string): WaybillError {
  return new WaybillError("stream_fenced", `The stream ${stream} cannot be written here: ${why}.`, {
    stream,
  });
}

function closed(stream: string): WaybillError {
  return new WaybillError("stream_closed", `The stream ${stream} has ended; nothing can follow its end.`, {
    stream,
  });
}
