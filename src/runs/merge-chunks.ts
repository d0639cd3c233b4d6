import type { UIChunk } from "../agents/agent.ts";
import type { LiveRun } from "./live-run.ts";

/** Begin and end of a message are the run's own to say; a forwarded one would reset or end what readers hold. */
const frames = new Set(["start", "finish", "abort", "error", "message-metadata", "reset-step"]);
/** Steps mark model calls; they carry nothing that a reader needs, and `start-step` resets text parts. */
const steps = new Set(["start-step", "finish-step"]);

/**
 * Takes in an AI SDK UI message stream: its text becomes the run's text, data parts of ours, and the rest is passed on
 * with ids scoped to this stream, so that two merged streams never meet under one id.
 */
export async function mergeChunks(live: LiveRun, chunks: AsyncIterable<UIChunk>): Promise<void> {
  for await (const chunk of chunks) {
    if (frames.has(chunk.type) || steps.has(chunk.type)) continue;
    if (chunk.type === "text-start" || chunk.type === "text-end") continue;
    if (chunk.type === "text-delta") {
      live.appendText(typeof chunk.delta === "string" ? chunk.delta : "");
      continue;
    }
    if (chunk.type.startsWith("data-") && chunk.transient !== true) {
      live.appendData(
        chunk.type.slice("data-".length),
        chunk.data,
        typeof chunk.id === "string" ? chunk.id : undefined,
      );
      continue;
    }
    live.appendChunk(scoped(chunk, live.run.stream));
  }
}

function scoped(chunk: UIChunk, stream: string): UIChunk {
  const copy = { ...chunk };
  for (const field of ["id", "toolCallId"]) {
    const value = copy[field];
    if (typeof value === "string") copy[field] = `${stream}:${value}`;
  }
  return copy;
}
