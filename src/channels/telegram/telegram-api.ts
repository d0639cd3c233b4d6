import { Api, GrammyError, HttpError } from "grammy";
import type { Clock } from "../../kernel/clock.ts";
import { redact } from "../../kernel/redact.ts";
import type { SendOutcome } from "../channel.ts";
import type { TelegramSettings } from "./telegram-settings.ts";

/** A wish to wait longer than a day is not taken at its word. */
const longestWaitMs = 86_400_000;

/** The methods, as core.telegram.org/bots/api has them. */
export type TelegramApi = Api["raw"];

/**
 * The Bot API of one bot. It tries nothing again by itself: the outbox owns retries. Requests go through `fetch` of
 * Node and not through the client's own, so that they end by our clock and a failure tells what may have been done.
 * @param more milliseconds that an answer may take besides `timeoutMs`: for polling, which waits on purpose
 */
export function telegramApi(settings: TelegramSettings, clock: Clock, more = 0): TelegramApi {
  const ms = settings.timeoutMs + more;
  const client = {
    apiRoot: settings.apiRoot,
    // The client's type is that of node-fetch, of which it uses what is the same in Node.
    fetch: ((url: string, init: RequestInit) => fetchInTime(url, init, ms, clock)) as never,
    timeoutSeconds: Math.ceil(ms / 1_000) + 60,
  };
  return new Api(settings.botToken, client).raw;
}

async function fetchInTime(
  url: string,
  { method, headers, body, signal }: RequestInit,
  ms: number,
  clock: Clock,
): Promise<Response> {
  const cut = new AbortController();
  const cancel = clock.after(ms, () => cut.abort(new LateError(ms)));
  // The client's signals are of a package of its own, which Node's fetch does not take.
  const left = (): void => cut.abort(new DOMException("the call was given up", "AbortError"));
  signal?.addEventListener("abort", left);
  if (signal?.aborted === true) left();
  try {
    const request: RequestInit = { signal: cut.signal, redirect: "error" };
    if (method) request.method = method;
    if (headers) request.headers = headers;
    if (body) request.body = body;
    const answer = await fetch(url, request);
    // The body is read here, so that an answer that stops in its middle counts as late too.
    const said = await answer.text();
    if (!isJson(said)) throw new StatusError(answer.status, answer.headers.get("retry-after"));
    return new Response(said, { status: answer.status });
  } finally {
    cancel();
    signal?.removeEventListener("abort", left);
  }
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "ok" in value;
  } catch {
    return false;
  }
}

class LateError extends Error {
  constructor(ms: number) {
    super(`there was no answer within ${ms} ms`);
  }
}

/** An answer that is not Telegram's: of a proxy, or of a server that is not a Bot API. */
class StatusError extends Error {
  readonly status: number;
  readonly retryAfter: string | null;
  constructor(status: number, retryAfter: string | null) {
    super(`HTTP ${status}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/**
 * What went wrong with a call.
 *
 *   refusal  Telegram answered that it will not; `code` is its HTTP-like code, `says` its words
 *   busy     Telegram asked to come back later: nothing was done
 *   away     no connection came about: nothing was done
 *   doubt    nobody knows what Telegram has done
 */
export type TelegramFailure =
  | { kind: "refusal"; code: number; says: string; movedTo: number | null; reason: string }
  | { kind: "busy"; reason: string; afterMs?: number }
  | { kind: "away"; reason: string }
  | { kind: "doubt"; reason: string };

/** What a thrown error of the client means. No error's own message is taken: it may hold the URL, and that the token. */
export function failureOf(thrown: unknown): TelegramFailure {
  if (thrown instanceof GrammyError) return ofAnswer(thrown);
  return ofConnection(thrown instanceof HttpError ? thrown.error : thrown);
}

function ofAnswer({ error_code: code, description, parameters }: GrammyError): TelegramFailure {
  const says = redact(String(description).replaceAll("\0", "").toWellFormed(), 300);
  if (code === 429) {
    return {
      kind: "busy",
      reason: "Telegram answered 429, too many requests",
      ...waitOf(parameters.retry_after),
    };
  }
  // It may fail after the work was done.
  if (code >= 500) return { kind: "doubt", reason: `Telegram answered ${code} (${says})` };
  const movedTo = parameters.migrate_to_chat_id ?? null;
  return { kind: "refusal", code, says, movedTo, reason: wordsFor(code, says, movedTo) };
}

/** Failures after which nothing can have arrived: no connection came about. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function ofConnection(thrown: unknown): TelegramFailure {
  let code = "";
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    if (at instanceof LateError) return { kind: "doubt", reason: at.message };
    if (at instanceof StatusError) return ofStatus(at);
    const { code: found } = at as Error & { code?: unknown };
    if (typeof found === "string") code = found;
  }
  if (neverSent.has(code)) return { kind: "away", reason: `the connection to Telegram failed (${code})` };
  return { kind: "doubt", reason: `the connection to Telegram broke${code === "" ? "" : ` (${code})`}` };
}

function ofStatus({ status, retryAfter }: StatusError): TelegramFailure {
  const reason = `the answer was none of Telegram's (HTTP ${status})`;
  if (status === 429 || status === 503) {
    return { kind: "busy", reason, ...waitOf(retryAfter === null ? undefined : Number(retryAfter)) };
  }
  return { kind: "doubt", reason };
}

function waitOf(seconds: number | undefined): { afterMs?: number } {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return {};
  return { afterMs: Math.min(longestWaitMs, seconds * 1_000) };
}

/**
 * Telegram has no codes for what is wrong with a request, only descriptions; those of closed places are known here, and
 * nowhere else is a description looked at. All 403 are such.
 */
const closed: readonly [RegExp, string][] = [
  [/message thread not found|TOPIC_DELETED/i, "the topic does not exist any more"],
  [/TOPIC_CLOSED/i, "the topic is closed"],
  [
    /chat not found|PEER_ID_INVALID|group chat was deactivated/i,
    "the chat does not exist any more, or the bot may not see it",
  ],
  [/bot was blocked by the user/i, "the person has blocked the bot"],
  [/user is deactivated/i, "the person's account does not exist any more"],
  [/can't initiate conversation/i, "the person has to write to the bot first"],
  [/bot was kicked|bot is not a member/i, "the bot is not in this chat any more"],
  [
    /not enough rights|have no rights|need administrator rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|CHAT_SEND_PLAIN_FORBIDDEN|CHAT_ADMIN_REQUIRED/i,
    "the bot may not write in this chat",
  ],
  [/message to edit not found|MESSAGE_ID_INVALID/i, "the post does not exist any more"],
  [/message can't be edited/i, "the post cannot be changed any more"],
  [/message can't be deleted/i, "the post cannot be deleted any more"],
];

function wordsFor(code: number, says: string, movedTo: number | null): string {
  if (movedTo !== null) {
    return `the group became a supergroup with the id ${movedTo}; allow that id, and ask again there (${says})`;
  }
  if (isDead(code)) return `Telegram does not accept the bot's token any more (${code} ${says})`;
  const words = closed.find(([shape]) => shape.test(says))?.[1];
  return words === undefined ? `Telegram refused it (${code} ${says})` : `${words} (${says})`;
}

/** 401, and 404 for a token whose shape is wrong: no call will succeed before an operator has set another token. */
function isDead(code: number): boolean {
  return code === 401 || code === 404;
}

export function isDeadToken(failure: TelegramFailure): boolean {
  return failure.kind === "refusal" && isDead(failure.code);
}

/** After these an edit is as it should be. */
export function isUnchanged(failure: TelegramFailure): boolean {
  return failure.kind === "refusal" && /message is not modified/i.test(failure.says);
}

/** What is not there need not be taken away. */
export function isAlreadyGone(failure: TelegramFailure): boolean {
  return failure.kind === "refusal" && /message to delete not found|MESSAGE_ID_INVALID/i.test(failure.says);
}

/** It is the marking of bold and code that was not liked, and nothing was posted. */
export function isBadFormat(failure: TelegramFailure): boolean {
  return failure.kind === "refusal" && failure.code === 400 && /entit(y|ies)/i.test(failure.says);
}

/** A pause that gives an operator time to set a new token before the attempts are used up. */
const deadTokenMs = 60_000;

/** What a failed call means for the op that was to be sent. */
export function outcomeOf(thrown: unknown): Exclude<SendOutcome, { kind: "sent" }> {
  const failure = failureOf(thrown);
  const { reason } = failure;
  switch (failure.kind) {
    case "away":
      return { kind: "retry", reason };
    case "busy":
      return {
        kind: "retry",
        reason,
        ...(failure.afterMs === undefined ? {} : { afterMs: failure.afterMs }),
      };
    case "doubt":
      return { kind: "unclear", reason };
    case "refusal":
      if (isDead(failure.code)) return { kind: "retry", reason, afterMs: deadTokenMs };
      return { kind: isClosed(failure) ? "blocked" : "refused", reason };
  }
}

function isClosed({ code, says, movedTo }: Extract<TelegramFailure, { kind: "refusal" }>): boolean {
  return code === 403 || movedTo !== null || closed.some(([shape]) => shape.test(says));
}
