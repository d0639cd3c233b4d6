import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { ServerFlags, ServerSettings } from "../gateway/environment.ts";
import { readServed } from "../gateway/served-file.ts";
import { errorCodes, type ErrorCode } from "../kernel/error-codes.ts";
import { WaybillError } from "../kernel/errors.ts";
import { prepare } from "./prepare.ts";

export interface ClientFlags extends ServerFlags {
  url?: string;
  json?: boolean;
}

/** The API of a gateway: one that runs, or the routes over its store, in process and for reading only. */
export interface Client {
  /** Null: no server runs, and the store is read. */
  readonly url: string | null;
  /** @throws WaybillError with the code that the gateway answered, `no_server`, `internal` */
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete<T>(path: string): Promise<T>;
  /** Server-sent events, after one of our own (`open`), until the server or the signal ends it. */
  events(path: string, signal: AbortSignal): AsyncGenerator<EventSourceMessage, void, undefined>;
  close(): Promise<void>;
}

/**
 * Finds the gateway that is meant: `--url` (`WAYBILL_URL`), else the one that serves the data folder, else, where there
 * is no store, whatever gateway listens on the usual port; else the store itself, for reading.
 * @throws WaybillError `no_server`, `config_invalid`
 */
export async function connect(flags: ClientFlags): Promise<Client> {
  const settings = prepare(flags);
  const url = await findServer(flags, settings);
  if (url !== null) return remoteClient(url, settings.token);
  try {
    // The routes and the store are loaded only where no server answers.
    const { openReadOnlyGateway } = await import("../gateway/read-only.ts");
    const gateway = await openReadOnlyGateway(settings);
    return makeClient(
      null,
      (request) => gateway.fetch(request),
      undefined,
      () => gateway.close(),
    );
  } catch (error) {
    if (!(error instanceof WaybillError) || error.code !== "not_found") throw error;
    throw new WaybillError(
      "no_server",
      `No gateway runs here and there is no store in ${settings.dataDir}. Start one with: waybill start, or name one with --url.`,
      { data: settings.dataDir },
    );
  }
}

/** The address of the running gateway that is meant; null if none runs. */
export async function findServer(flags: ClientFlags, settings: ServerSettings): Promise<string | null> {
  const named = flags.url ?? process.env["WAYBILL_URL"];
  if (named !== undefined && named !== "")
    return baseOf(named, flags.url === undefined ? "WAYBILL_URL" : "--url");
  const served = readServed(settings.dataDir);
  if (served && (await isWaybill(served.url))) return served.url;
  const host = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
  const usual = `http://${settings.loopback ? host : "127.0.0.1"}:${settings.port}`;
  const isMeant = flags.port !== undefined || !(await hasStore(settings));
  return settings.port !== 0 && isMeant && (await isWaybill(usual)) ? usual : null;
}

async function hasStore(settings: ServerSettings): Promise<boolean> {
  if (settings.databaseUrl !== undefined) return true;
  try {
    const { inspectStore } = await import("../gateway/inspect-store.ts");
    return (await inspectStore(settings)) !== null;
  } catch {
    return true; // There is one, and whoever opens it will say what is wrong with it.
  }
}

function baseOf(text: string, field: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, "");
  throw new WaybillError(
    "config_invalid",
    `${field} must be an http or https address, such as http://127.0.0.1:8787.`,
    { issues: [{ field, rule: "must be an http or https address" }] },
  );
}

/** True if a gateway answers there. */
export async function isWaybill(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(3_000) });
    const body = (await response.json()) as { version?: unknown; code?: unknown };
    return typeof body.version === "string" || body.code === "shutting_down";
  } catch {
    return false;
  }
}

export function remoteClient(url: string, token: string | undefined): Client {
  return makeClient(
    url,
    (request) => fetch(request),
    token,
    () => Promise.resolve(),
  );
}

function makeClient(
  url: string | null,
  send: (request: Request) => Promise<Response>,
  token: string | undefined,
  close: () => Promise<void>,
): Client {
  const ask = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    let response: Response;
    try {
      response = await send(new Request(`${url ?? "http://127.0.0.1"}${path}`, { ...init, headers }));
    } catch (cause) {
      if ((cause as Error).name === "AbortError") throw cause;
      throw new WaybillError(
        "no_server",
        `No gateway answers at ${url ?? "this store"}. Start one with: waybill start, or check --url.`,
        { url },
        cause,
      );
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  };
  const put = async <T>(method: string, path: string, body: unknown): Promise<T> => {
    const headers = { "content-type": "application/json" };
    const response = await ask(path, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as T;
  };
  return {
    url,
    get: async <T>(path: string) => (await (await ask(path, {})).json()) as T,
    post: <T>(path: string, body: unknown = {}) => put<T>("POST", path, body),
    patch: <T>(path: string, body: unknown) => put<T>("PATCH", path, body),
    delete: async <T>(path: string) => (await (await ask(path, { method: "DELETE" })).json()) as T,
    events: (path, signal) => readEvents(ask(path, { headers: { accept: "text/event-stream" }, signal })),
    close,
  };
}

/** An answer that says no, as the error that it carries. */
async function problemOf(response: Response): Promise<WaybillError> {
  const body = await response
    .json()
    .then((value) => value as Record<string, unknown>)
    .catch(() => ({}) as Record<string, unknown>);
  const { code, title, detail, type: _type, status: _status, ...details } = body;
  if (typeof code === "string" && code in errorCodes) {
    return new WaybillError(
      code as ErrorCode,
      [detail, title].find((text) => typeof text === "string") ?? code,
      details,
    );
  }
  return new WaybillError("internal", `The gateway answered ${response.status} and gave no reason.`, {
    status: response.status,
  });
}

/**
 * The events of an answer. The first is our own `open`, when the server has begun to send: with the id at which the
 * reader stands, if the server said one.
 */
async function* readEvents(asked: Promise<Response>): AsyncGenerator<EventSourceMessage, void, undefined> {
  const body = (await asked).body;
  if (!body) return;
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void ready.push(event) });
  let opened = false;
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    if (!opened) {
      opened = true;
      yield { event: "open", data: "", id: /^id: ?(.*)$/m.exec(text)?.[1] };
    }
    parser.feed(text);
    yield* ready.splice(0);
  }
}
