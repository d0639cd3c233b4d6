import type { MessageRecord } from "../deliveries/read-messages.ts";
import type { RunRecord } from "../ledger/read-runs.ts";
import { endChunk } from "../streams/finish-chunks.ts";
import type { Chunk, StreamBatch, StreamEnd, StreamEvent } from "../streams/stream.ts";
import { reasonText, renderStoredText, renderText, type Locale } from "../texts/render.ts";

/**
 * The stream of a run that has ended, where its log is no longer in this process: after a restart, after retention, or
 * when another node ran it. What was committed is all there is, and it is told as a stream that ended.
 *
 * Its offsets lie above any that a log can reach, so a reader that had a part of the real log is recognised and given
 * the whole answer, which begins with a `start` that voids what was before it.
 */
const base = 1_000_000_000_000_000;

export function closedStream(
  run: RunRecord,
  message: MessageRecord | null,
  after: number,
  locale: Locale,
): StreamBatch {
  const chunks = chunksOf(run, message, locale);
  const resumed = after > 0 && after < base;
  const all = chunks.map((chunk, i) => toEvent(run, chunk, i + 1, resumed));
  const next = base + all.length;
  const events = all.filter((event) => event.offset > after);
  return {
    events,
    encoded: events.map((event) => JSON.stringify(event)),
    next: Math.max(next, after),
    ended: true,
  };
}

function toEvent(run: RunRecord, chunk: Chunk, place: number, resumed: boolean): StreamEvent {
  return {
    v: 1,
    root: run.streamRoot,
    stream: run.stream,
    // A reader that comes with a seq of the real log ignores lower ones.
    seq: resumed ? base + place : place,
    offset: base + place,
    at: run.finishedAt ?? run.createdAt,
    chunk,
  };
}

function chunksOf(run: RunRecord, message: MessageRecord | null, locale: Locale): Chunk[] {
  const end = run.state as StreamEnd;
  const start = { type: "start", messageId: message?.id ?? run.id };
  const isAnswer = message !== null && message.notice === null && end === "completed";
  const body = isAnswer ? answerChunks(run.stream, message) : [];
  return [start, ...body, ...lastChunks(run, message, end, locale), endChunk(end)];
}

/** A committed answer as the chunks that would have streamed it. */
export function answerChunks(stream: string, message: Pick<MessageRecord, "text" | "parts">): Chunk[] {
  const id = `${stream}:text`;
  const text: Chunk[] =
    message.text === ""
      ? []
      : [
          { type: "text-start", id },
          { type: "text-delta", id, delta: message.text },
          { type: "text-end", id },
        ];
  const data = message.parts
    .filter((part) => part.type === "data")
    .map((part) => ({
      type: `data-${part.name}`,
      ...(part.id === undefined ? {} : { id: `${stream}:${part.id}` }),
      data: part.value,
    }));
  return [...text, ...data];
}

function lastChunks(run: RunRecord, message: MessageRecord | null, end: StreamEnd, locale: Locale): Chunk[] {
  if (end === "completed") return [{ type: "finish" }];
  if (end === "cancelled") return [{ type: "abort", reason: reasonText(locale, run.reason ?? "cancel") }];
  const notice = message?.notice ?? { key: "run.failed", values: { run: run.id } };
  const text =
    renderStoredText(locale, notice.key, notice.values) ??
    message?.text ??
    renderText(locale, "run.failed", { run: run.id });
  return [
    { type: "data-notice", id: `${run.stream}:notice`, data: { ...notice, text } },
    { type: "error", errorText: text },
  ];
}
