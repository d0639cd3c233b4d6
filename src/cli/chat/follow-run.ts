import type { Client } from "../client.ts";
import type { Screen } from "./screen.ts";

/** What of a stream's events a terminal shows (the AI SDK's UI message chunks). */
interface StreamEvent {
  stream: string;
  chunk: { type: string; [field: string]: unknown };
}

/** A run whose answer is streamed to this terminal. */
export interface Followed {
  run: string;
  /** The id that its final message has or will have; null until its stream has begun. */
  message: string | null;
  /** What of the answer is on the screen. */
  text: string;
}

/**
 * Shows the answer of a run as it is made, until its stream has ended. Only its own text is shown: what nested streams
 * say is part of the answer where the agent chose so.
 */
export async function followRun(
  client: Client,
  screen: Screen,
  followed: Followed,
  stream: string,
  signal: AbortSignal,
  begun: () => void,
): Promise<void> {
  for await (const event of client.events(
    `/v1/stream/${encodeURIComponent(stream)}?live=sse&offset=-1`,
    signal,
  )) {
    if (event.event !== "data") continue;
    for (const one of JSON.parse(event.data) as StreamEvent[]) {
      if (one.stream !== stream) continue;
      show(screen, followed, one.chunk);
      if (one.chunk.type === "start") begun();
    }
  }
}

function show(screen: Screen, followed: Followed, chunk: StreamEvent["chunk"]): void {
  const data = (chunk["data"] ?? {}) as Record<string, unknown>;
  switch (chunk.type) {
    case "start":
      if (typeof chunk["messageId"] === "string") followed.message = chunk["messageId"];
      // Another attempt of the run: what the one before had said is void.
      if (followed.text !== "") screen.note("(it begins anew)");
      followed.text = "";
      return;
    case "text-delta":
      if (typeof chunk["delta"] !== "string") return;
      followed.text += chunk["delta"];
      screen.delta(followed.run, chunk["delta"]);
      return;
    case "data-final-text":
      // What was committed is not what was streamed; the message says it whole.
      followed.text = "";
      return;
    case "data-stream-end":
      // Who was stopped is told no more than that; every other end leaves a message.
      if (data["state"] === "cancelled") screen.note("(stopped)");
      return;
    case "data-progress":
      screen.status(progressOf(data));
      return;
    case "tool-input-start":
      screen.status(`calls ${String(chunk["toolName"])}`);
      return;
    default:
  }
}

function progressOf({ text, percent }: Record<string, unknown>): string {
  return `${String(text)}${typeof percent === "number" ? `, ${percent} %` : ""}`;
}
