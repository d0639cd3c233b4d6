/** A real gateway on SQLite in a folder of its own, called through `fetch` or over a listening socket. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { RunningGateway } from "../../src/gateway/create-gateway.ts";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import type { WireAccepted, WireProblem } from "../../src/http/api.ts";
import type { FeedHint } from "../../src/http/ports.ts";
import { serve } from "../../src/http/serve.ts";
import { isTerminal } from "../../src/ledger/run.ts";

export interface HttpGateway {
  running: RunningGateway;
  /** Calls the app in process, as an embedding program does. */
  call(path: string, init?: RequestInit): Promise<Response>;
  get<T>(
    path: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: T }>;
  post<T = WireAccepted & WireProblem>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: T }>;
  /** Resolves when the run has ended. */
  ended(run: string | null): Promise<string>;
  /** Resolves with the first hint that fits; ask before what causes it. */
  hint(fits: (hint: FeedHint) => boolean): Promise<FeedHint>;
  /** Listens on a free port. */
  listen(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a gateway that is stopped, and whose folder is removed, when the test is over. */
export async function httpGateway(config: WaybillConfig, options: GatewayOptions = {}): Promise<HttpGateway> {
  const gateway = await startHttpGateway(config, options);
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** The same for several tests; who starts it stops it (in `afterAll`). */
export async function startHttpGateway(
  config: WaybillConfig,
  options: GatewayOptions = {},
): Promise<HttpGateway> {
  const cleaners: (() => Promise<void>)[] = [];
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(tmpdir(), "waybill-http-")));
  const running = new RunningGateway(config, { dataDir, ...options });
  await running.start();
  const { feed, db, services } = running.parts;
  cleaners.push(async () => {
    await running.stop(0);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  });
  const call = (where: string, init?: RequestInit): Promise<Response> =>
    running.fetch(new Request(new URL(where, "http://localhost"), init));
  const hint: HttpGateway["hint"] = (fits) =>
    new Promise((resolve) => {
      const stop = feed.subscribe(null, (one) => {
        if (!fits(one)) return;
        stop();
        resolve(one);
      });
    });
  const read = async <T>(response: Response) => ({
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as T,
  });
  return {
    running,
    call,
    get: async <T>(where: string, headers = {}) => read<T>(await call(where, { headers })),
    post: async <T>(where: string, body?: unknown, headers = {}) =>
      read<T>(
        await call(where, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        }),
      ),
    hint,
    async ended(run) {
      const heard = hint((one) => one.kind === "run" && one.run === run && isTerminal(one.state));
      const [row] = await db.query((k) =>
        k
          .selectFrom("runs")
          .select("state")
          .where("tenant_id", "=", services.tenant)
          .where("id", "=", run ?? ""),
      );
      if (row && isTerminal(row.state as "queued")) return row.state;
      const end = await heard;
      return end.kind === "run" ? end.state : "";
    },
    async listen() {
      const server = await serve((request, env) => running.fetch(request, env), {
        host: "127.0.0.1",
        port: 0,
      });
      cleaners.unshift(() => server.close({ graceMs: 0 }));
      return server.url;
    },
    async stop() {
      for (const clean of cleaners) await clean();
    },
  };
}

/** A promise that a test's agent waits for. */
export function gate(): { open: () => void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: () => resolve(), opened: promise };
}

export interface SseEvent {
  event: string;
  data: string;
  id: string | null;
}

/** Reads server-sent events (WHATWG HTML, 9.2) of an answer, comments left out. */
export async function* sseEvents(response: Response): AsyncGenerator<SseEvent> {
  let rest = "";
  let id: string | null = null;
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const blocks = rest.split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      let event = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const [, field, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (field === "event") event = value!;
        if (field === "data") data.push(value!);
        if (field === "id") id = value!;
      }
      if (data.length > 0) yield { event, data: data.join("\n"), id };
    }
  }
}

/** Takes events until one fits; the rest is still to be read. */
export async function until<T>(events: AsyncIterator<T>, fits: (event: T) => boolean): Promise<T[]> {
  const seen: T[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The events ended before the one that was waited for: ${JSON.stringify(seen)}`);
    seen.push(value);
    if (fits(value)) return seen;
  }
}
