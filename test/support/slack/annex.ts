/**
 * What the emulator of Slack lacks, in front of it: Socket Mode, and whatever methods a test adds. Every other call goes
 * on to the town. Its address is the setting `apiUrl` of a channel.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { SlackTown } from "./slack-town.ts";

export interface AnnexCall {
  method: string;
  params: URLSearchParams;
  token: string;
}

/** Answers a call: an object as JSON, a Response as it is, or undefined to let the town answer. */
export type Answer = (call: AnnexCall) => unknown;

/** One Socket Mode connection, seen from Slack. */
export interface Link {
  socket: WebSocket;
  /** Ids of the envelopes that were acknowledged, in that order. */
  acks: string[];
  closed: boolean;
}

export class SlackAnnex {
  readonly calls: AnnexCall[] = [];
  /** By method, as `chat.startStream`; or by path, as `/files/plan.pdf`. */
  readonly answers = new Map<string, Answer>();
  readonly links: Link[] = [];
  /** What the greeting says; null: none comes. */
  hello: Record<string, unknown> | null = { type: "hello", num_connections: 1 };
  readonly #town: SlackTown;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  #waiting: (() => void)[] = [];

  private constructor(town: SlackTown) {
    this.#town = town;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("upgrade", (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (link) => this.#connected(link));
    });
    this.answers.set("apps.connections.open", () => ({
      ok: true,
      url: `${this.url.replace("http", "ws")}/link`,
    }));
  }

  static async start(town: SlackTown): Promise<SlackAnnex> {
    const annex = new SlackAnnex(town);
    await new Promise<void>((resolve) => annex.#server.listen(0, "127.0.0.1", resolve));
    return annex;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get apiUrl(): string {
    return `${this.url}/api/`;
  }

  of(method: string): AnnexCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Sends an envelope over the newest connection; its id. */
  push(envelope: Record<string, unknown> | string): string {
    const id = randomUUID();
    const link = this.links.at(-1);
    if (!link) throw new Error("Nobody is connected.");
    link.socket.send(
      typeof envelope === "string" ? envelope : JSON.stringify({ envelope_id: id, ...envelope }),
    );
    return id;
  }

  /** An event of the town over the newest connection. */
  pushEvent(event: Record<string, unknown>, more: Record<string, unknown> = {}): string {
    return this.push({ type: "events_api", payload: this.#town.envelope(event), ...more });
  }

  get acks(): string[] {
    return this.links.flatMap((link) => link.acks);
  }

  /** Resolves when it holds; it is looked at after every call, acknowledgement, connection and `tell`. */
  async until(what: string, holds: () => boolean): Promise<void> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.tell();
    }, 10_000);
    try {
      while (!holds()) {
        if (late) throw new Error(`It did not happen within 10 s: ${what}`);
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  tell(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #connected(socket: WebSocket): void {
    const link: Link = { socket, acks: [], closed: false };
    this.links.push(link);
    socket.on("message", (data: Buffer) => {
      const { envelope_id: id } = JSON.parse(data.toString("utf8")) as { envelope_id: string };
      link.acks.push(id);
      this.tell();
    });
    socket.on("close", () => {
      link.closed = true;
      this.tell();
    });
    if (this.hello) socket.send(JSON.stringify(this.hello));
    this.tell();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const where = request.url ?? "/";
    const method = where.startsWith("/api/") ? where.slice("/api/".length) : where;
    const token = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const call = { method, params: new URLSearchParams(body.toString("utf8")), token };
    this.calls.push(call);
    this.tell();
    try {
      const given = await this.answers.get(method)?.(call);
      const answer = given instanceof Response ? given : given === undefined ? null : Response.json(given);
      await send(answer ?? (await this.#forward(method, request, body)), response);
    } catch (thrown) {
      response.writeHead(500).end(String(thrown));
    } finally {
      this.tell();
    }
  }

  #forward(method: string, request: IncomingMessage, body: Buffer): Promise<Response> {
    const { authorization = "", "content-type": type = "" } = request.headers;
    return fetch(this.#town.apiUrl + method, {
      method: "POST",
      headers: { authorization, "content-type": type },
      body: new Uint8Array(body),
    });
  }

  async stop(): Promise<void> {
    for (const { socket } of this.links) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  const headers = Object.fromEntries(answer.headers);
  delete headers["content-encoding"];
  delete headers["transfer-encoding"];
  response.writeHead(answer.status, { ...headers, "content-length": body.byteLength });
  response.end(body);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
