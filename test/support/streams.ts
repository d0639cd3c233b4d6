import { expect } from "vitest";
import { WaybillError } from "../../src/kernel/errors.ts";
import type {
  Chunk,
  ReadOptions,
  StreamBatch,
  StreamEvent,
  StreamHead,
  StreamStore,
} from "../../src/streams/stream.ts";

export function head(stream: string, more: Partial<StreamHead> = {}): StreamHead {
  return { stream, root: stream, run: `run_${stream}`, parent: null, epoch: 1, node: "boot_1", ...more };
}

export function text(delta: string, id = "text"): Chunk {
  return { type: "text-delta", id, delta };
}

/** The text of the deltas, in order. Checks on the way that no stream has a gap. */
export function textOf(events: readonly StreamEvent[]): string {
  const seqs = new Map<string, number>();
  let all = "";
  for (const event of events) {
    const before = seqs.get(event.stream);
    if (before !== undefined) expect(event.from ?? event.seq).toBe(before + 1);
    seqs.set(event.stream, event.seq);
    if (event.chunk.type === "text-delta") all += event.chunk["delta"] as string;
  }
  return all;
}

export async function collect(batches: AsyncIterable<StreamBatch>): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const batch of batches) events.push(...batch.events);
  return events;
}

export function readNow(store: StreamStore, root: string, options: ReadOptions = {}): Promise<StreamEvent[]> {
  return collect(store.read(root, { ...options, live: false }));
}

export async function writeTo(store: StreamStore, to: StreamHead, chunk: Chunk): Promise<void> {
  const writer = store.open(to);
  writer.append(chunk);
  await writer.flush();
}

/** The code of the error that an action ends with. */
export async function codeOf(action: () => Promise<unknown>): Promise<string> {
  try {
    await action();
  } catch (error) {
    if (error instanceof WaybillError) return error.code;
    throw error;
  }
  return "nothing was thrown";
}
