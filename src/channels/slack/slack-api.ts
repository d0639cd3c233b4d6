import {
  ErrorCode,
  LogLevel,
  WebClient,
  type WebAPIHTTPError,
  type WebAPIPlatformError,
  type WebAPIRateLimitedError,
  type WebClientOptions,
} from "@slack/web-api";
import type { Clock } from "../../kernel/clock.ts";
import { redact } from "../../kernel/redact.ts";
import type { SendOutcome } from "../channel.ts";
import type { SlackSettings } from "./slack-settings.ts";

/** A wish to wait longer than a day is not taken at its word. */
const longestWaitMs = 86_400_000;

/**
 * The Web API of one workspace. It tries nothing again by itself: the outbox owns retries, and a call that waited
 * inside the client would hold up its address without anybody seeing why.
 */
export function slackApi(settings: SlackSettings, clock: Clock, token = settings.botToken): WebClient {
  return new WebClient(token, clientOptions(settings, clock));
}

export function clientOptions(settings: SlackSettings, clock: Clock): WebClientOptions {
  return {
    slackApiUrl: settings.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    fetch: (url, init) => fetchInTime(url, init, settings.timeoutMs, clock),
    // Its own log writes to the console, in words that we do not choose; failures come to us as errors.
    logger: quiet,
  };
}

/** For libraries that would write to the console. */
export const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

async function fetchInTime(
  url: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1],
  ms: number,
  clock: Clock,
): Promise<Response> {
  const late = new AbortController();
  const cancel = clock.after(ms, () => late.abort(new LateError(ms)));
  try {
    const answer = await fetch(url, { ...init, signal: late.signal });
    // The body is read here, so that an answer that stops in its middle counts as late too.
    const body = await answer.arrayBuffer();
    return new Response(body.byteLength === 0 ? null : body, {
      status: answer.status,
      headers: answer.headers,
    });
  } finally {
    cancel();
  }
}

class LateError extends Error {
  constructor(ms: number) {
    super(`there was no answer within ${ms} ms`);
  }
}

/**
 * What went wrong with a call.
 *
 *   refusal  Slack answered `ok: false` with `error`
 *   busy     Slack asked to come back later: nothing was done
 *   away     no connection came about: nothing was done
 *   doubt    nobody knows what Slack has done
 */
export type SlackFailure =
  | { kind: "refusal"; error: string; needed: string | null; reason: string }
  | { kind: "busy"; reason: string; afterMs?: number }
  | { kind: "away"; reason: string }
  | { kind: "doubt"; reason: string };

/** What a thrown error of the client means. Its texts may come from Slack, so what looks like a secret is taken out. */
export function failureOf(thrown: unknown): SlackFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  switch (codeOf(error)) {
    case ErrorCode.PlatformError:
      return ofRefusal(error as WebAPIPlatformError);
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return { kind: "busy", reason: "Slack answered 429, too many requests", ...waitOf(retryAfter) };
    }
    case ErrorCode.HTTPError:
      return ofStatus(error as WebAPIHTTPError);
    default:
      return ofConnection(error);
  }
}

function codeOf(error: Error): string {
  const { code } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Slack's own failures come as `ok: false` too. After these nothing was done. */
const passing = new Set([
  "ratelimited",
  "rate_limited",
  "message_limit_exceeded",
  "service_unavailable",
  "team_added_to_org",
]);
/** After these Slack may have done it all the same. */
const doubtful = new Set(["fatal_error", "internal_error", "request_timeout"]);

function ofRefusal({ data }: WebAPIPlatformError): SlackFailure {
  // An answer that is no JSON ends up here, whole: a proxy's error page.
  const error = /^[a-z0-9_]{1,80}$/i.test(data.error) ? data.error : "";
  if (error === "") return { kind: "doubt", reason: "Slack's answer was not JSON" };
  const more = data as { needed?: unknown; response_metadata?: { retryAfter?: number } };
  if (doubtful.has(error)) return { kind: "doubt", reason: `Slack answered ${error}` };
  if (passing.has(error)) {
    const wait = waitOf(more.response_metadata?.retryAfter);
    return { kind: "busy", reason: `Slack answered ${error}`, ...wait };
  }
  const needed = typeof more.needed === "string" ? redact(more.needed, 200) : null;
  return { kind: "refusal", error, needed, reason: wordsFor(error, needed) };
}

function ofStatus({ statusCode, headers }: WebAPIHTTPError): SlackFailure {
  const reason = `Slack answered with the HTTP status ${statusCode}`;
  // 500, 502 and 504 may come from a machine before the one that did the work: it is looked for before it is sent again.
  if (statusCode >= 500 && statusCode !== 503) return { kind: "doubt", reason };
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === "retry-after")?.[1];
  return { kind: "busy", reason, ...waitOf(given === undefined ? undefined : Number(given)) };
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

function ofConnection(error: Error): SlackFailure {
  let code = "";
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof LateError) return { kind: "doubt", reason: at.message };
    const found = codeOf(at);
    if (found !== "" && !found.startsWith("slack_")) code = found;
  }
  // The client's error for a 429 without a Retry-After has no code of its own.
  if (error.message.startsWith("Retry header")) {
    return { kind: "busy", reason: "Slack answered 429, too many requests" };
  }
  if (neverSent.has(code)) return { kind: "away", reason: `the connection to Slack failed (${code})` };
  return { kind: "doubt", reason: `the connection to Slack broke${code === "" ? "" : ` (${code})`}` };
}

function waitOf(seconds: number | undefined): { afterMs?: number } {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return {};
  return { afterMs: Math.min(longestWaitMs, seconds * 1_000) };
}

const blockedWords: Readonly<Record<string, string>> = {
  channel_not_found: "the conversation does not exist any more, or the bot may not see it",
  is_archived: "the channel is archived",
  not_in_channel: "the bot is not in this channel; invite it with /invite",
  thread_not_found: "the thread does not exist any more",
  message_not_found: "the post does not exist any more",
  cant_update_message: "this post is not the bot's to change",
  cant_delete_message: "this post is not the bot's to delete",
  edit_window_closed: "the workspace does not allow posts to be changed any more",
  restricted_action: "the workspace does not let the bot post here",
  restricted_action_read_only_channel: "this channel is read-only for the bot",
  restricted_action_thread_only_channel: "this channel takes posts in threads only",
  restricted_action_non_threadable_channel: "this channel takes no posts in threads",
  restricted_action_thread_locked: "the thread is locked",
  messages_tab_disabled: "the app's Messages Tab is switched off, so nobody can be written to directly",
  cannot_dm_bot: "this is a conversation with a bot",
  user_not_found: "the person does not exist any more",
  user_disabled: "the person's account is switched off",
  is_inactive: "the workspace has frozen this conversation",
};

/** The token is of no use any more: nothing of what waits is lost, and it goes out once a new token is set. */
const deadTokens = new Set([
  "invalid_auth",
  "not_authed",
  "token_revoked",
  "token_expired",
  "account_inactive",
  "org_login_required",
  "ekm_access_denied",
  "two_factor_setup_required",
]);

/** True: no call will succeed before an operator has set another token. */
export function isDeadToken(failure: SlackFailure): boolean {
  return failure.kind === "refusal" && deadTokens.has(failure.error);
}

function wordsFor(error: string, needed: string | null): string {
  const blocked = blockedWords[error];
  if (blocked !== undefined) return `${blocked} (${error})`;
  if (error === "missing_scope") {
    const which = needed === null ? "a scope" : `the scope ${needed}`;
    return `the bot's token lacks ${which} (missing_scope); add it under OAuth & Permissions and install the app again`;
  }
  if (deadTokens.has(error)) return `Slack does not accept the bot's token any more (${error})`;
  return `Slack refused it (${error})`;
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
      if (isDeadToken(failure)) return { kind: "retry", reason, afterMs: deadTokenMs };
      if (failure.error in blockedWords || failure.error === "missing_scope")
        return { kind: "blocked", reason };
      return { kind: "refused", reason };
  }
}
