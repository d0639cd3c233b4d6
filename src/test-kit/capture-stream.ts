import type { StreamSource } from "../http/stream-source.ts";
import type { Chunk } from "../streams/stream.ts";

/** What a reader of a run's stream has been given so far. */
export interface CapturedStream {
  /** Chunks of the AI SDK's UI message stream, in order. */
  chunks: Chunk[];
  /** The deltas of the answer's text, one by one. */
  readonly deltas: string[];
  /** All deltas joined. */
  readonly text: string;
  /** The offset to resume after. */
  next: number;
  /** Resolves when the chunk that you wait for has come; looks at those that are there already. */
  saw(wanted: (chunk: Chunk) => boolean): Promise<Chunk>;
  /** Resolves at the end of the stream. */
  ended: Promise<void>;
  /** Leaves, as a browser does that is closed. */
  leave(): void;
}

/** Reads a stream until it ends or the reader leaves. */
export function captureStream(source: StreamSource, after: number): CapturedStream {
  const abort = new AbortController();
  const waiting = new Set<{ wanted: (chunk: Chunk) => boolean; resolve: (chunk: Chunk) => void }>();
  const chunks: Chunk[] = [];
  const hear = (chunk: Chunk): void => {
    chunks.push(chunk);
    for (const one of waiting) {
      if (!one.wanted(chunk)) continue;
      waiting.delete(one);
      one.resolve(chunk);
    }
  };
  const captured: CapturedStream = {
    chunks,
    get deltas() {
      return chunks.flatMap((chunk) => (chunk.type === "text-delta" ? [chunk["delta"] as string] : []));
    },
    get text() {
      return captured.deltas.join("");
    },
    next: after,
    saw: (wanted) => {
      const there = chunks.find(wanted);
      if (there) return Promise.resolve(there);
      return new Promise((resolve) => waiting.add({ wanted, resolve }));
    },
    ended: Promise.resolve(),
    leave: () => abort.abort(),
  };
  captured.ended = (async () => {
    for await (const batch of source.read({ after, signal: abort.signal, reader: "test" })) {
      for (const event of batch.events) hear(event.chunk);
      captured.next = batch.next;
    }
  })();
  return captured;
}
