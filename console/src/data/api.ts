import type { WireProblem } from "../../../src/http/api.ts";
import { noteServerDate } from "./time.ts";

/** An answer that is no success. `code` is of docs/errors.md; without an answer it is `unreachable`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Partial<WireProblem>;

  constructor(status: number, code: string, problem: Partial<WireProblem>) {
    super(problem.detail ?? code);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.problem = problem;
  }
}

const tokenKey = "waybill.token";
const hearers = new Set<() => void>();
let token = readToken();
let refused = false;
let language = "en";

function readToken(): string | null {
  try {
    return sessionStorage.getItem(tokenKey);
  } catch {
    return null;
  }
}

/** The operator's token, for this window's session only; and whether the server has refused what we sent. */
export const access = {
  get token(): string | null {
    return token;
  },
  /** True from a 401 until another token is given. */
  get refused(): boolean {
    return refused;
  },
  use(value: string | null): void {
    token = value;
    refused = false;
    try {
      if (value === null) sessionStorage.removeItem(tokenKey);
      else sessionStorage.setItem(tokenKey, value);
    } catch {
      // Without session storage the token lives as long as the page.
    }
    for (const hear of hearers) hear();
  },
  subscribe(hear: () => void): () => void {
    hearers.add(hear);
    return () => hearers.delete(hear);
  },
};

/** In which language the server is to write sentences. */
export function speak(locale: string): void {
  language = locale;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

function pathOf(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/**
 * Asks the gateway that served this page.
 * @throws ApiError for an answer that is no success; `unreachable` if there was none
 */
export async function request(
  path: string,
  { query = {}, ...init }: RequestInit & { query?: Query } = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("accept-language", language);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(pathOf(path, query), { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", {});
  }
  noteServerDate(response);
  if (response.ok || response.status === 304) return response;
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<ApiError> {
  if (response.status === 401 && !refused) {
    refused = true;
    for (const hear of hearers) hear();
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<WireProblem>;
  return new ApiError(response.status, problem.code ?? `http_${response.status}`, problem);
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { query, signal: signal ?? null });
  return (await response.json()) as T;
}

export function post<T>(path: string, body?: unknown): Promise<T> {
  return send("POST", path, body);
}

export function patch<T>(path: string, body: unknown): Promise<T> {
  return send("PATCH", path, body);
}

async function send<T>(method: string, path: string, body: unknown): Promise<T> {
  const response = await request(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return (await response.json()) as T;
}

/** True where asking again may help: no answer, or a server that is not well. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429);
}
