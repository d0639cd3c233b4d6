import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { WaybillError } from "../kernel/errors.ts";

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:8787`, with the real port. */
  url: string;
  port: number;
  /**
   * Takes no new connections, ends event streams at once, lets other answers end within `graceMs` (default 2,000), and
   * cuts what is left.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Milliseconds that a client may take for the head of a request, and for all of it. */
const headersTimeout = 20_000;
const requestTimeout = 60_000;

/**
 * Listens with Node's own HTTP server.
 * @param fetch answers requests; it is handed Node's objects beside the request, for event streams
 * @throws WaybillError `port_in_use`; `config_invalid` for a host or port that cannot be listened on
 */
export async function serve(
  fetch: (request: Request, env?: object) => Promise<Response>,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const answering = new Set<ServerResponse>();
  // Connections on which nothing was asked yet: browsers open them ahead, and Node does not count them as idle.
  const unused = new Set<Socket>();
  let closing = false;
  const listener = getRequestListener((request, env) => fetch(request, env), { hostname: host });
  const server = createServer(
    // Many open streams each wait for events: keep what Node holds for one small.
    { keepAliveTimeout: 5_000, headersTimeout, requestTimeout },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      unused.delete(incoming.socket);
      answering.add(outgoing);
      outgoing.on("close", () => {
        answering.delete(outgoing);
        // An answer that ends now leaves its connection idle, which would be kept for the next request.
        if (closing) server.closeIdleConnections();
      });
      if (closing) outgoing.setHeader("connection", "close");
      void listener(incoming, outgoing);
    },
  );
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.on("close", () => unused.delete(socket));
  });
  await listen(server, host, port);
  const { port: real } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${real}`,
    port: real,
    close({ graceMs = 2_000 } = {}) {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const outgoing of answering) if (isEventStream(outgoing)) outgoing.end();
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      return closed.finally(() => clearTimeout(cut));
    },
  };
}

function isEventStream(outgoing: ServerResponse): boolean {
  return String(outgoing.getHeader("content-type") ?? "").startsWith("text/event-stream");
}

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(asListenError(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function asListenError(error: NodeJS.ErrnoException, host: string, port: number): WaybillError {
  if (error.code === "EADDRINUSE") {
    return new WaybillError(
      "port_in_use",
      `Port ${port} on ${host} is taken. Stop what listens there, or choose another with --port (0: any free port).`,
      { port, host },
    );
  }
  return new WaybillError(
    "config_invalid",
    `Waybill cannot listen on ${host}, port ${port} (${error.code ?? error.message}). Set WAYBILL_HOST and WAYBILL_PORT to an address of this machine and a free port.`,
    { field: "host", host, port },
    error,
  );
}
