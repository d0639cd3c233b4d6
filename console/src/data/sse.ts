import { createParser, type EventSourceMessage } from "eventsource-parser";
import { request, type Query } from "./api.ts";

/**
 * Reads server-sent events with `fetch`, since an EventSource cannot send a token.
 * Resolves when the server ends the answer; `beat` is told of every piece, comments too.
 * @throws ApiError, and what `fetch` throws when the connection breaks
 */
export async function readEvents(
  path: string,
  options: {
    query?: Query;
    signal: AbortSignal;
    onEvent: (event: EventSourceMessage) => void;
    onOpen?: () => void;
  },
): Promise<void> {
  const response = await request(path, {
    ...(options.query ? { query: options.query } : {}),
    signal: options.signal,
    headers: { accept: "text/event-stream" },
  });
  options.onOpen?.();
  const parser = createParser({ onEvent: options.onEvent });
  const reader = response.body?.pipeThrough(new TextDecoderStream() as never).getReader() as
    | ReadableStreamDefaultReader<string>
    | undefined;
  if (!reader) return;
  for (;;) {
    const { done, value } = await withinSilence(reader.read(), reader);
    if (done) return;
    parser.feed(value);
  }
}

/** The server beats every 15 s; a connection that is silent for longer is dead, though nobody closed it. */
const silenceMs = 45_000;

async function withinSilence<T>(
  reading: Promise<ReadableStreamReadResult<T>>,
  reader: ReadableStreamDefaultReader<T>,
): Promise<ReadableStreamReadResult<T>> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), silenceMs);
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}
