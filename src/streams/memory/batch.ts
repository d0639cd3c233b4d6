import type { StreamBatch, StreamEvent } from "../stream.ts";
import type { Cuts } from "./compaction.ts";
import { restAfter } from "./compaction.ts";
import { deltaText, utf8Size } from "./delta.ts";

/** A batch, and what it counts for each stream in it. Readers at the same offset share one. */
export interface CountedBatch {
  batch: StreamBatch;
  counts: ReadonlyMap<string, Count>;
}

export interface Count {
  events: number;
  bytes: number;
}

interface Encoded {
  json: string;
  bytes: number;
}

/** A batch ends after so many events or so many UTF-16 units of JSON, at the next place where it may end. */
const batchEvents = 512;
const batchLength = 262_144;

/** As many of the newest events keep their JSON; who reads further back pays for it himself. A power of two. */
const keptEncodings = 16;

/** The JSON of the newest events, made when the first reader asks and dropped as the log goes on. */
export class Encodings {
  #kept: (Encoded | undefined)[] = [];

  /** Called for each append: the new event takes the place of one that is now too old. */
  forget(offset: number): void {
    if (this.#kept.length > 0) this.#kept[offset % keptEncodings] = undefined;
  }

  /** Called when events of the log have been replaced. */
  clear(): void {
    this.#kept = [];
  }

  /** `keep` is false for an event that only this reader sees (the rest of a merged one). */
  of(event: StreamEvent, newest: number, keep: boolean): Encoded {
    if (!keep || event.offset <= newest - keptEncodings) return encode(event);
    if (this.#kept.length === 0) this.#kept = Array.from({ length: keptEncodings });
    return (this.#kept[event.offset % keptEncodings] ??= encode(event));
  }
}

/** Bytes that a chunk counts for, as `StreamCounts` defines them. */
export function chunkSize(chunk: StreamEvent["chunk"]): number {
  return utf8Size(deltaText(chunk) ?? JSON.stringify(chunk));
}

function encode(event: StreamEvent): Encoded {
  // Not put together from parts: V8 keeps such a text as a tree of its parts, which takes three times the memory.
  return { json: JSON.stringify(event), bytes: chunkSize(event.chunk) };
}

/** What a batch is made from: a log's events, ascending by offset, and what compaction knows of them. */
export interface BatchSource {
  events: readonly StreamEvent[];
  lastOffset: number;
  cuts: ReadonlyMap<StreamEvent, Cuts>;
  seams: ReadonlySet<StreamEvent>;
  encodings: Encodings;
}

/** The next batch after an offset, of all streams or of one. `ended` is for the caller to say. */
export function batchAfter(source: BatchSource, after: number, stream?: string): CountedBatch {
  const { events, cuts, seams, lastOffset } = source;
  const taken: StreamEvent[] = [];
  const encoded: string[] = [];
  const counts = new Map<string, Count>();
  let length = 0;
  let i = firstAfter(events, after);
  let next = lastOffset;
  for (; i < events.length; i += 1) {
    if (taken.length >= batchEvents || length >= batchLength) {
      const last = events[i - 1]!;
      if (!seams.has(last)) {
        next = last.offset;
        break;
      }
    }
    const stored = events[i]!;
    if (stream !== undefined && stored.stream !== stream) continue;
    const event = restAfter(stored, cuts.get(stored), after);
    const { json, bytes } = source.encodings.of(event, lastOffset, event === stored);
    taken.push(event);
    encoded.push(json);
    length += json.length;
    const count = counts.get(event.stream) ?? { events: 0, bytes: 0 };
    count.events += event.seq - (event.from ?? event.seq) + 1;
    count.bytes += bytes;
    counts.set(event.stream, count);
  }
  return { batch: { events: taken, encoded, next, ended: false }, counts };
}

/** The index of the first event behind an offset. Without compaction, offsets and indexes run in step. */
function firstAfter(events: readonly StreamEvent[], after: number): number {
  const guess = events.length - ((events.at(-1)?.offset ?? 0) - after);
  if (guess > 0 && events[guess - 1]?.offset === after) return guess;
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle]!.offset > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
