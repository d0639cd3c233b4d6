import type { Chunk, StreamEvent } from "../streams/stream.ts";

/**
 * Events of a log as the stock client of the AI SDK takes them. It gives up on a chunk of a type that it does not know,
 * and on one that lacks a field; a second `start` in one response does not empty its message, `reset-step` does.
 * Source: the SDK's schema of UI message chunks (`ai` 7, ui-message-chunks).
 */
export function chatChunks(stream: string): (event: StreamEvent) => Chunk[] {
  let started = false;
  return (event) => {
    const { chunk } = event;
    if (event.stream !== stream) return isFrame(chunk.type) || !isKnown(chunk) ? [] : [chunk];
    if (chunk.type === "start") {
      if (!started) {
        started = true;
        return [chunk];
      }
      // The run was begun again; what the attempt before had streamed is void.
      return [{ type: "reset-step" }, chunk];
    }
    if (chunk.type === "data-final-text") return finalText(stream, chunk);
    return isKnown(chunk) ? [chunk] : [];
  };
}

/** What was streamed is no beginning of the committed answer: it goes, and the answer takes its place. */
function finalText(stream: string, chunk: Chunk): Chunk[] {
  const { text } = chunk["data"] as { text: string };
  const id = `${stream}:final`;
  return [
    { type: "reset-step" },
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
  ];
}

/** Of a nested stream these would begin, reset or end the message around it. */
function isFrame(type: string): boolean {
  return frames.has(type);
}

const frames = new Set([
  "start",
  "start-step",
  "finish-step",
  "reset-step",
  "finish",
  "abort",
  "error",
  "message-metadata",
  "data-final-text",
  "data-stream-end",
]);

/** The types that the client knows, each with the fields that must be texts. */
const known: Readonly<Record<string, readonly string[]>> = {
  "text-start": ["id"],
  "text-delta": ["id", "delta"],
  "text-end": ["id"],
  error: ["errorText"],
  "tool-input-start": ["toolCallId", "toolName"],
  "tool-input-delta": ["toolCallId", "inputTextDelta"],
  "tool-input-available": ["toolCallId", "toolName"],
  "tool-input-error": ["toolCallId", "toolName", "errorText"],
  "tool-approval-request": ["approvalId", "toolCallId"],
  "tool-approval-response": ["approvalId"],
  "tool-output-available": ["toolCallId"],
  "tool-output-error": ["toolCallId", "errorText"],
  "tool-output-denied": ["toolCallId"],
  "reasoning-start": ["id"],
  "reasoning-delta": ["id", "delta"],
  "reasoning-end": ["id"],
  custom: ["kind"],
  "source-url": ["sourceId", "url"],
  "source-document": ["sourceId", "mediaType", "title"],
  file: ["url", "mediaType"],
  "reasoning-file": ["url", "mediaType"],
  "start-step": [],
  "finish-step": [],
  "reset-step": [],
  finish: [],
  abort: [],
  "message-metadata": [],
};

function isKnown(chunk: Chunk): boolean {
  if (chunk.type.startsWith("data-")) return true;
  const fields = Object.hasOwn(known, chunk.type) ? known[chunk.type] : undefined;
  return fields !== undefined && fields.every((field) => typeof chunk[field] === "string");
}
