import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Clock } from "../kernel/clock.ts";
import type { HttpContext } from "./context.ts";

/**
 * Server-sent events (WHATWG HTML, 9.2). A reader is paused, not buffered: the next frame is asked for when the socket
 * has taken the one before. On Node's own server frames go to the response's socket directly; embedded elsewhere, the
 * same frames go through a ReadableStream.
 */
export interface SseServer {
  /**
   * Answers with the frames of `begin`, which is given a signal that aborts when the reader has gone. A frame is the
   * text of whole events.
   */
  answer(
    c: HttpContext,
    begin: (signal: AbortSignal) => AsyncIterable<string>,
    headers?: Record<string, string>,
  ): Response;
  /** Readers that are connected now. */
  readonly size: number;
}

/**
 * A reader that was just written to is written to again after this at the earliest, with all that came meanwhile; a
 * token that comes alone goes out at once. Measured on 2 cores with 200 streams and their clients in another process:
 * 200,000 tokens took 4.7 s of the server's CPU without it, 2.9 s with 4 ms, 2.7 s with 8 ms.
 */
const tickMs = 4;

/** After so long without an event a comment is sent, so that proxies keep the connection and a lost one is noticed. */
const heartbeatMs = 15_000;

interface Connection {
  /** Something was sent since the last beat. */
  active: boolean;
  write(text: string): void | Promise<void>;
  /** No more frames are asked for. */
  stop(): void;
}

/** @param stopped ends all connections when it aborts */
export function sseServer(clock: Clock, stopped?: AbortSignal): SseServer {
  const open = new Set<Connection>();
  stopped?.addEventListener("abort", () => {
    for (const connection of open) connection.stop();
  });
  let beating = false;
  const beat = (): void => {
    for (const connection of open) {
      if (!connection.active) void connection.write(":\n\n");
      connection.active = false;
    }
    beating = open.size > 0;
    if (beating) clock.after(heartbeatMs, beat);
  };
  const enter = (connection: Connection): void => {
    open.add(connection);
    if (beating) return;
    beating = true;
    clock.after(heartbeatMs, beat);
  };
  return {
    get size() {
      return open.size;
    },
    answer(c, begin, more = {}) {
      const headers = { ...c.get("headers"), ...sseHeaders, ...more };
      if (c.req.method === "HEAD") return new Response(null, { headers });
      const outgoing = c.env?.outgoing;
      const log = c.get("log");
      const onError = (error: unknown): void =>
        log.error({ path: c.req.path, error: String(error) }, "an event stream broke off");
      const life = { enter, leave: (connection: Connection) => open.delete(connection), onError };
      if (!outgoing) return new Response(webBody(begin, life), { headers });
      void pumpToNode(outgoing, headers, begin, life);
      return RESPONSE_ALREADY_SENT;
    },
  };
}

/** One timer for all connections: they are written to in the same turn of the loop. */
let ticking: Promise<void> | null = null;

function nextTick(): Promise<void> {
  ticking ??= new Promise((resolve) => {
    setTimeout(() => {
      ticking = null;
      resolve();
    }, tickMs);
  });
  return ticking;
}

const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-store, no-transform",
  "x-accel-buffering": "no",
};

interface Life {
  enter(connection: Connection): void;
  leave(connection: Connection): void;
  onError(error: unknown): void;
}

async function pumpToNode(
  out: ServerResponse,
  headers: Record<string, string>,
  begin: (signal: AbortSignal) => AsyncIterable<string>,
  life: Life,
): Promise<void> {
  const gone = new AbortController();
  let room: (() => void) | null = null;
  const goOn = (): void => {
    room?.();
    room = null;
  };
  out.on("drain", goOn);
  out.on("close", () => {
    gone.abort();
    goOn();
  });
  out.on("error", () => gone.abort());
  const connection: Connection = {
    active: true,
    stop: () => gone.abort(),
    write(text) {
      connection.active = true;
      if (gone.signal.aborted || out.writableEnded) return;
      if (out.write(text)) return;
      return new Promise((resolve) => {
        room = resolve;
      });
    },
  };
  life.enter(connection);
  try {
    // Set one by one, so that the server can ask the response what it is when it has to end it (serve.ts).
    for (const [name, value] of Object.entries(headers)) out.setHeader(name, value);
    out.writeHead(200).flushHeaders();
    for await (const frame of begin(gone.signal)) {
      const full = connection.write(frame);
      if (full) await full;
      if (gone.signal.aborted) break;
      await nextTick();
    }
  } catch (error) {
    if (!gone.signal.aborted) life.onError(error);
  } finally {
    life.leave(connection);
    if (!out.writableEnded) out.end();
    gone.abort();
  }
}

/** Bytes that wait in a web stream at most. */
const webBuffer = 16_384;

function webBody(
  begin: (signal: AbortSignal) => AsyncIterable<string>,
  life: Life,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  let frames: AsyncIterator<string> | null = null;
  let connection: Connection | null = null;
  let closed = false;
  const leave = (controller?: ReadableStreamDefaultController<Uint8Array>): void => {
    gone.abort();
    if (connection) life.leave(connection);
    if (!closed) controller?.close();
    closed = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        connection = {
          active: true,
          stop: () => gone.abort(),
          write: (text) => {
            if (!gone.signal.aborted) controller.enqueue(encoder.encode(text));
          },
        };
        life.enter(connection);
        frames = begin(gone.signal)[Symbol.asyncIterator]();
      },
      async pull(controller) {
        try {
          const { done, value } = await frames!.next();
          if (done || gone.signal.aborted) {
            leave(controller);
            return;
          }
          connection!.active = true;
          controller.enqueue(encoder.encode(value));
        } catch (error) {
          if (!gone.signal.aborted) life.onError(error);
          leave(controller);
        }
      },
      async cancel() {
        leave();
        await frames?.return?.();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: webBuffer }),
  );
}

/** One event. `data` is one line or more. */
export function sseEvent(event: string | null, data: string, id?: string | number): string {
  const lines = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  return `${id === undefined ? "" : `id: ${id}\n`}${event === null ? "" : `event: ${event}\n`}data: ${lines}\n\n`;
}
