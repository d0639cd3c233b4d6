/**
 * The port of streams. One log per stream root; every event of its tree is in it once, labelled with its stream and a
 * gapless `seq` per stream. One writer per stream, by epoch (the fence of its run). Reading never publishes.
 *
 *   absent -> open (epoch e) -> closed(state)
 *               |    ^
 *               +----+  open again with a higher epoch (the run was claimed again): the older writer is refused
 */

/** A chunk of the AI SDK's UI message stream; `type` is theirs, or `data-*` for ours. */
export interface Chunk {
  type: string;
  [field: string]: unknown;
}

/**
 * One event of a log. `offset` is its place in the root's log (from 1), `seq` its place in its stream (from 1).
 *
 * Compaction merges deltas of one part that follow one another in their stream. A merged event covers `from` to
 * `seq` of its stream and carries the place and the time of the last of them. So in each stream
 * `(from ?? seq) === the seq before + 1` always holds, and a reader that finds it broken has lost something.
 * The offsets that two merged events of different streams cover may interleave: resume after a batch's `next`, not
 * after the `offset` of an event inside the batch.
 */
export interface StreamEvent {
  v: 1;
  root: string;
  stream: string;
  seq: number;
  /** The first seq that this event covers; left out where that is `seq` itself. */
  from?: number;
  offset: number;
  /** Milliseconds since 1970. */
  at: number;
  chunk: Chunk;
}

export interface StreamHead {
  stream: string;
  root: string;
  run: string;
  parent: string | null;
  epoch: number;
  /** The boot id of the node that writes. */
  node: string;
}

export type StreamEnd = "completed" | "failed" | "cancelled" | "interrupted";

/**
 * What was written to one stream and what its readers were given of it. Events are counted as they were appended (a
 * merged one as all that it covers), and bytes are of UTF-8: the text of a delta, the JSON of any other chunk. So
 * what a reader from the start was sent equals what was written, compacted or not.
 */
export interface StreamCounts {
  stream: string;
  run: string;
  /** `{run}/{epoch}`: which attempt of the run writes, or wrote last. */
  writer: string;
  /** The boot id of the writer's node. */
  node: string;
  firstAt: number | null;
  lastAt: number | null;
  events: number;
  bytes: number;
  closed: StreamEnd | null;
  readersNow: number;
  readersMost: number;
  /** The last 50 readers. `from` is the offset that each began after; `closed` is: was given the end. */
  readers: { id: string; from: number; sent: number; bytes: number; ended: "open" | "closed" | "left" }[];
}

/** The one writer of a stream. */
export interface StreamWriter {
  readonly head: StreamHead;
  /**
   * Appends one chunk, which belongs to the store from then on: do not change it. Synchronous in memory; a store
   * that writes elsewhere buffers in order.
   * @throws WaybillError `stream_closed` after the end, `stream_fenced` when a higher epoch has taken over.
   */
  append(chunk: Chunk): void;
  /** Resolves when all that was appended can be read. */
  flush(): Promise<void>;
  /**
   * Appends `last` (what the commit had and the stream had not), then one `data-stream-end` chunk that says how the
   * stream ended (`endChunk` in finish-chunks.ts), and ends the stream. Ending a stream that has ended does nothing.
   * With a higher epoch in place it is refused: `stream_fenced`.
   *
   * Ending the root's own stream ends the log: streams of the tree that are still open end as `interrupted` before it.
   */
  close(end: StreamEnd, last: readonly Chunk[]): Promise<void>;
}

/** A batch of events that a reader is given; `next` is the offset to resume after. Readers share it: do not change it. */
export interface StreamBatch {
  events: readonly StreamEvent[];
  /** Each event as JSON, made once for all readers that keep up. */
  encoded: readonly string[];
  next: number;
  /** True: the log (with `stream`: that stream) has ended with this batch and nothing follows. */
  ended: boolean;
}

export interface ReadOptions {
  /** Only events after this offset of the root's log; 0 is from the start. */
  after?: number;
  /** Only this stream of the tree; offsets are still the root's. */
  stream?: string;
  signal?: AbortSignal;
  /** Who reads, for the counts. */
  reader?: string;
  /** False: give what is there and stop. Default true: follow until the log ends. */
  live?: boolean;
}

export interface StreamStore {
  /**
   * Opens a stream, or opens it again with a higher epoch; from then on the older writer is refused.
   * @throws WaybillError `stream_closed` if it or its root's log has ended, `stream_fenced` for a lower or equal
   * epoch and for a stream that belongs to another root.
   */
  open(head: StreamHead): StreamWriter;
  /** The root of a stream that this store knows, else null. */
  rootOf(stream: string): string | null;
  /** True if the root's log has ended. Null: unknown to this store. */
  ended(root: string): boolean | null;
  /**
   * Reads a root's log. Events come in order, each once. A log that nobody opened yet reads as open and empty.
   * A slow reader never holds up the writer or others. What follows `after` is exact: where `after` lies inside a
   * merged delta, only the rest of its text is given. A read that is not aborted gives at least one batch, empty if
   * need be, so that its reader learns `next` and `ended`.
   *
   * Errors come with the first batch asked for: `invalid_offset` for an offset past the end of the log; and later
   * `unknown_stream`, if the log was forgotten before this reader had all of it.
   */
  read(root: string, options: ReadOptions): AsyncIterable<StreamBatch>;
  counts(root: string): StreamCounts[];
  /** Forgets logs that ended `olderThanMs` or longer ago, and bounds what is kept by bytes. Answers how many went. */
  forgetEnded(olderThanMs: number): number;
  /** For metrics: open streams, ended logs that are kept, bytes of memory that logs take (about), readers now. */
  size(): { open: number; ended: number; bytes: number; readers: number };
  stop(): Promise<void>;
}
