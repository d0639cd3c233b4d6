import { setImmediate as nextTurn } from "node:timers/promises";
import { z } from "zod";
import { WaybillError } from "../../kernel/errors.ts";
import type { StreamBatch } from "../../streams/stream.ts";
import { invalidRequest } from "../body.ts";
import { localeOf, type HttpContext } from "../context.ts";
import type { HttpPorts } from "../ports.ts";
import { problemOf } from "../problem.ts";
import { checkId, idParams, route, type Routes } from "../route.ts";
import type { SseServer } from "../sse.ts";
import { openSource, type StreamSource } from "../stream-source.ts";

/**
 * Reading a stream as the Durable Streams protocol has it (github.com/durable-streams/durable-streams, PROTOCOL.md,
 * read path, JSON mode): catch-up, long-poll and SSE. Our content type is `application/json`; each item is one event.
 */

/** JSON of one answer at most, about; what follows is asked for with `Stream-Next-Offset`. UTF-16 units. */
const answerLength = 524_288;
const longPollMs = 25_000;
/** A batch with fewer events than this and less JSON had all that was there. */
const fullBatch = { events: 512, length: 262_144 };
/** Cursors count intervals of 20 s since 2024-10-09, as the protocol proposes. */
const cursorEpoch = Date.UTC(2024, 9, 9);
const cursorMs = 20_000;

export function streamRoutes(routes: Routes, ports: HttpPorts, sse: SseServer): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/stream/{id}",
      summary: "Reads a stream (Durable Streams): a root is its whole tree, a nested one that stream alone.",
      params: idParams,
      query: z.object({
        offset: z.string().optional(),
        live: z.enum(["long-poll", "sse"]).optional(),
        cursor: z.string().optional(),
        locale: z.string().optional(),
      }),
      answers: {
        200: { description: "Events as a JSON array, or server-sent events with live=sse." },
        204: { description: "Long-poll: nothing new yet, or the stream has ended." },
      },
      errors: ["unknown_stream", "invalid_offset"],
    },
    async (c, { params, query }) => {
      const source = await openSource(ports, checkId(params.id), localeOf(c, ports.locale));
      const resumed = query.live === "sse" ? c.req.header("last-event-id") : undefined;
      const offset = resumed ?? query.offset;
      if (query.live !== undefined && offset === undefined) {
        throw invalidRequest([{ field: "offset", rule: "is needed with live; -1 is from the start" }]);
      }
      const after = offset === "now" ? await tailOf(source) : readOffset(offset);
      const cursor = cursorAfter(query.cursor, ports.clock.now());
      if (query.live === "sse") return answerSse(c, ports, sse, source, after, cursor);
      if (query.live === "long-poll") return longPoll(c, ports, source, after, cursor);
      return offset === "now"
        ? arrayAnswer(c, { events: [], next: after, upToDate: true, ended: false }, {})
        : catchUp(c, source, after);
    },
  );
}

/** @throws WaybillError `invalid_offset` */
function readOffset(offset: string | undefined): number {
  if (offset === undefined || offset === "-1") return 0;
  if (/^\d{1,16}$/.test(offset) && Number.isSafeInteger(Number(offset))) return Number(offset);
  throw new WaybillError(
    "invalid_offset",
    "offset: this is no offset of a stream. Use one that a stream-next-offset gave, or -1 for the start.",
    { field: "offset" },
  );
}

/** Offsets are compared as texts by clients, so they have one length. */
function formatOffset(offset: number): string {
  return String(offset).padStart(16, "0");
}

/** A cursor never goes back, so a cache never answers the same question with the same answer for ever. */
function cursorAfter(given: string | undefined, now: number): string {
  const current = Math.floor((now - cursorEpoch) / cursorMs);
  const before = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(before >= current ? before + 1 : current);
}

interface Found {
  events: string[];
  next: number;
  upToDate: boolean;
  ended: boolean;
}

async function gather(source: StreamSource, after: number, reader: string): Promise<Found> {
  const found: Found = { events: [], next: after, upToDate: false, ended: false };
  let length = 0;
  for await (const batch of source.read({ after, live: false, reader })) {
    for (const event of batch.encoded) {
      found.events.push(event);
      length += event.length;
    }
    found.next = batch.next;
    found.ended = batch.ended;
    if (length >= answerLength && !batch.ended) return found;
  }
  found.upToDate = true;
  return found;
}

async function tailOf(source: StreamSource): Promise<number> {
  let next = 0;
  for await (const batch of source.read({ after: 0, live: false, reader: "tail" })) next = batch.next;
  return next;
}

async function catchUp(c: HttpContext, source: StreamSource, after: number): Promise<Response> {
  const found = await gather(source, after, readerOf(c));
  const etag = `W/"${source.id}:${after}:${found.next}${found.ended ? ":c" : ""}"`;
  if (c.req.header("if-none-match") === etag) {
    return new Response(null, { status: 304, headers: { ...c.get("headers"), etag } });
  }
  return arrayAnswer(c, found, { etag });
}

function readerOf(c: HttpContext): string {
  return `http:${c.get("request")}`;
}

function arrayAnswer(c: HttpContext, found: Found, more: Record<string, string>): Response {
  const headers = {
    ...c.get("headers"),
    ...placeHeaders(found),
    ...more,
    "content-type": "application/json",
  };
  return new Response(`[${found.events.join(",")}]`, { headers });
}

function placeHeaders(found: Omit<Found, "events">): Record<string, string> {
  return {
    "stream-next-offset": formatOffset(found.next),
    ...(found.upToDate ? { "stream-up-to-date": "true" } : {}),
    ...(found.ended && found.upToDate ? { "stream-closed": "true" } : {}),
  };
}

/** Waits for the first events after an offset, at most `longPollMs`. */
async function longPoll(
  c: HttpContext,
  ports: HttpPorts,
  source: StreamSource,
  after: number,
  cursor: string,
): Promise<Response> {
  const stop = new AbortController();
  const cancelTimer = ports.clock.after(longPollMs, () => stop.abort());
  const signal = AbortSignal.any([stop.signal, c.req.raw.signal]);
  try {
    for await (const batch of source.read({ after, signal, reader: readerOf(c) })) {
      const upToDate = isWhole(batch);
      const found = { events: [...batch.encoded], next: batch.next, upToDate, ended: batch.ended };
      if (found.events.length > 0) return arrayAnswer(c, found, { "stream-cursor": cursor });
      if (batch.ended) return nothingNew(c, batch.next, true, cursor);
    }
    return nothingNew(c, after, false, cursor);
  } finally {
    cancelTimer();
  }
}

function nothingNew(c: HttpContext, next: number, ended: boolean, cursor: string): Response {
  const place = placeHeaders({ next, ended, upToDate: true });
  return new Response(null, {
    status: 204,
    headers: { ...c.get("headers"), ...place, "stream-cursor": cursor },
  });
}

function isWhole(batch: StreamBatch): boolean {
  if (batch.ended) return true;
  if (batch.encoded.length >= fullBatch.events) return false;
  let length = 0;
  for (const event of batch.encoded) length += event.length;
  return length < fullBatch.length;
}

/** The first batch is asked for before the answer begins, so that a wrong offset is still a problem with a status. */
async function answerSse(
  c: HttpContext,
  ports: HttpPorts,
  sse: SseServer,
  source: StreamSource,
  after: number,
  cursor: string,
): Promise<Response> {
  if (c.req.method === "HEAD") return sse.answer(c, async function* () {});
  const gone = new AbortController();
  const batches = source.read({ after, signal: gone.signal, reader: readerOf(c) })[Symbol.asyncIterator]();
  const first = batches.next();
  // Its error, if there is one, is handled here or where the batch is awaited.
  await Promise.race([first, nextTurn()]);
  return sse.answer(c, (signal) => {
    signal.addEventListener("abort", () => gone.abort(), { once: true });
    return sseFrames(c, ports, batches, first, after, cursor);
  });
}

async function* sseFrames(
  c: HttpContext,
  ports: HttpPorts,
  batches: AsyncIterator<StreamBatch>,
  first: Promise<IteratorResult<StreamBatch>>,
  after: number,
  firstCursor: string,
): AsyncGenerator<string> {
  let cursor = firstCursor;
  let cursorAt = ports.clock.now();
  const settled = await Promise.race([first, nextTurn(null)]);
  // Nothing is there yet: the reader learns at once that it is connected and where it stands.
  if (settled === null) yield controlFrame(after, cursor, true, false);
  try {
    for (let result = await first; !result.done; result = await batches.next()) {
      const batch = result.value;
      const now = ports.clock.now();
      if (now - cursorAt >= cursorMs) {
        cursor = cursorAfter(cursor, now);
        cursorAt = now;
      }
      yield dataFrame(batch) + controlFrame(batch.next, cursor, isWhole(batch), batch.ended);
    }
  } catch (error) {
    // The head of the answer is sent; what went wrong comes as an event.
    yield `event: error\ndata: ${await problemOf(error, c).text()}\n\n`;
  } finally {
    await batches.return?.();
  }
}

/** Readers at one place of a log share its batches, and so this text. */
const dataFrames = new WeakMap<StreamBatch, string>();

function dataFrame(batch: StreamBatch): string {
  const { encoded, next } = batch;
  if (encoded.length === 0) return "";
  let frame = dataFrames.get(batch);
  if (frame === undefined) {
    frame = `id: ${formatOffset(next)}\nevent: data\ndata: [\ndata: ${encoded.join(",\ndata: ")}\ndata: ]\n\n`;
    dataFrames.set(batch, frame);
  }
  return frame;
}

function controlFrame(next: number, cursor: string, upToDate: boolean, ended: boolean): string {
  const closed = ended ? ',"streamClosed":true' : "";
  return `event: control\ndata: {"streamNextOffset":"${formatOffset(next)}","streamCursor":"${cursor}"${upToDate ? ',"upToDate":true' : ""}${closed}}\n\n`;
}
