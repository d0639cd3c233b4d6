import type { Chunk, StreamEnd } from "./stream.ts";

/**
 * The chunks that bring a stream to its end. The committed answer is the truth; what was streamed before the commit
 * is brought to it by what `missingText` says.
 */

export type MissingText =
  | { kind: "nothing" }
  /** The rest of the text, to be appended to the text part that was streamed. */
  | { kind: "delta"; delta: string }
  /** What was streamed is no beginning of the answer: this chunk replaces all of its text. */
  | { kind: "replace"; chunk: FinalTextChunk };

export interface FinalTextChunk extends Chunk {
  type: "data-final-text";
  id: "final";
  data: { text: string };
}

export interface EndChunk extends Chunk {
  type: "data-stream-end";
  id: "end";
  /** The AI SDK's client keeps a transient data chunk out of the message. */
  transient: true;
  data: { state: StreamEnd };
}

/** What has to follow `streamed`, so that who read it ends up with `committed`. */
export function missingText(streamed: string, committed: string): MissingText {
  if (streamed === committed) return { kind: "nothing" };
  if (committed.startsWith(streamed)) return { kind: "delta", delta: committed.slice(streamed.length) };
  return { kind: "replace", chunk: { type: "data-final-text", id: "final", data: { text: committed } } };
}

/** The last chunk of every stream: how it ended. The store appends it when the stream is closed. */
export function endChunk(state: StreamEnd): EndChunk {
  return { type: "data-stream-end", id: "end", transient: true, data: { state } };
}
