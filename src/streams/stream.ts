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

/** One event of a log. `offset` is its place in the root's log (from 1), `seq` its place in its stream (from 1). */
export interface StreamEvent {
  v: 1;
  root: string;
  stream: string;
  seq: number;
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

export interface StreamCounts {
  stream: string;
  run: string;
  writer: string;
  firstAt: number | null;
  lastAt: number | null;
  events: number;
  bytes: number;
  closed: StreamEnd | null;
  readersNow: number;
  readersMost: number;
  readers: { id: string; from: number; sent: number; bytes: number; ended: "open" | "closed" | "left" }[];
}

/** The one writer of a stream. */
export interface StreamWriter {
  readonly head: StreamHead;
  /**
   * Appends one chunk. Synchronous in memory; a store that writes elsewhere buffers in order.
   * @throws WaybillError `stream_closed` after the end, `stream_fenced` when a higher epoch has taken over.
   */
  append(chunk: Chunk): void;
  /** Resolves when all that was appended can be read. */
  flush(): Promise<void>;
  /**
   * Appends `last` (what the commit had and the stream had not), then ends the stream. Ending a stream that has
   * ended does nothing. With a higher epoch in place it is refused: `stream_fenced`.
   */
  close(end: StreamEnd, last: readonly Chunk[]): Promise<void>;
}

/** A batch of events that a reader is given; `next` is the offset to resume after. */
export interface StreamBatch {
  events: readonly StreamEvent[];
  /** Each event as JSON, made once for all readers. */
  encoded: readonly string[];
  next: number;
  /** True: the log has ended with this batch and nothing follows. */
  ended: boolean;
}

export interface ReadOptions {
  /** Only events after this offset of the root's log; 0 is from the start. */
  after?: number;
  /** Only this stream of the tree. */
  stream?: string;
  signal?: AbortSignal;
  /** Who reads, for the counts. */
  reader?: string;
  /** False: give what is there and stop. Default true: follow until the log ends. */
  live?: boolean;
}

export interface StreamStore {
  /** Opens a stream, or opens it again with a higher epoch. @throws `stream_fenced` for a lower or equal one, `stream_closed`. */
  open(head: StreamHead): StreamWriter;
  /** The root of a stream that this store knows, else null. */
  rootOf(stream: string): string | null;
  /** True if the root's log has ended. Null: unknown to this store. */
  ended(root: string): boolean | null;
  /**
   * Reads a root's log. Events come in order, each once. A log that nobody opened yet reads as open and empty.
   * A slow reader never holds up the writer or others.
   * @throws WaybillError `invalid_offset` for an offset past the end of the log.
   */
  read(root: string, options: ReadOptions): AsyncIterable<StreamBatch>;
  counts(root: string): StreamCounts[];
  /** Forgets ended logs whose end is older than `ms`, and bounds what is kept by bytes. */
  forgetEnded(olderThanMs: number): number;
  /** Open streams now, for metrics. */
  size(): { open: number; ended: number; bytes: number; readers: number };
  stop(): Promise<void>;
}
