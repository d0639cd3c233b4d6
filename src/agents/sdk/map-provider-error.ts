import { WaybillError } from "../../kernel/errors.ts";
import type { ErrorCode } from "../../kernel/error-codes.ts";

/** Who was called, as far as known. */
export interface Called {
  provider: string | undefined;
  model: string | undefined;
}

/**
 * What a model call threw, as an error with a code. Its message names the provider, the model, the host and the HTTP
 * status. The provider's own message and body are left out, also as a cause: they may repeat a key or what people
 * wrote. An error that is neither the AI SDK's nor the network's is the agent's own and comes back as it is.
 */
export async function mapProviderError(thrown: unknown, called: Called): Promise<Error> {
  const ai = await import("ai");
  const error = ai.RetryError.isInstance(thrown) ? thrown.lastError : thrown;
  if (error instanceof WaybillError) return error;
  // The socket under a running answer fails with the answer's status, 200: look at the cause first.
  if (isNetworkError(error) && !(ai.APICallError.isInstance(error) && error.statusCode === undefined)) {
    return say("provider_bad_answer", called, "cut the connection before its answer was complete", {});
  }
  if (ai.APICallError.isInstance(error)) {
    return fromStatus(called, error.statusCode, {
      host: hostOf(error.url),
      ...waitOf(error.responseHeaders),
    });
  }
  if (ai.StreamProviderError.isInstance(error))
    return fromStatus(called, error.statusCode ?? 500, { streaming: true });
  if (ai.LoadAPIKeyError.isInstance(error) || ai.LoadSettingError.isInstance(error)) {
    return say(
      "provider_unauthorized",
      called,
      "has no key or setting; set its usual environment variable",
      {},
    );
  }
  if (ai.UnsupportedFunctionalityError.isInstance(error)) {
    return say("provider_failed", called, `does not support ${error.functionality}`, {});
  }
  if (ai.NoSuchModelError.isInstance(error)) return say("provider_failed", called, "has no such model", {});
  if (ai.AISDKError.isInstance(error)) {
    return say("provider_bad_answer", called, "gave an answer that cannot be read", { kind: error.name });
  }
  if (error instanceof Error) return error;
  // A provider's error object that came as a part of the stream.
  return say("provider_failed", called, "reported an error in its answer", {});
}

function fromStatus(
  called: Called,
  status: number | undefined,
  details: Record<string, unknown>,
): WaybillError {
  if (status === undefined) return say("provider_failed", called, "could not be reached", details);
  const all = { ...details, status };
  if (status === 401 || status === 403) {
    return say("provider_unauthorized", called, `refused the key (HTTP ${status}); check its key`, all);
  }
  if (status === 429)
    return say("provider_rate_limited", called, `is limiting requests (HTTP 429)${waitText(details)}`, all);
  if (status >= 200 && status < 300) {
    return say("provider_bad_answer", called, `gave an answer that cannot be read (HTTP ${status})`, all);
  }
  if (status === 404)
    return say("provider_failed", called, "does not know this model or path (HTTP 404)", all);
  return say("provider_failed", called, `failed (HTTP ${status})`, all);
}

function say(code: ErrorCode, called: Called, what: string, details: Record<string, unknown>): WaybillError {
  const model = called.model === undefined ? "" : ` (model ${called.model})`;
  const host = typeof details.host === "string" ? ` at ${details.host}` : "";
  const who = `The model provider${called.provider === undefined ? "" : ` ${called.provider}`}${model}${host}`;
  return new WaybillError(code, `${who} ${what}.`, {
    provider: called.provider ?? null,
    model: called.model ?? null,
    ...details,
  });
}

/** Only the host: a URL's path and query may hold a key. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}

/** How long the provider asks to wait: `retry-after-ms`, or `Retry-After` (RFC 9110, 10.2.3) in seconds or as a date. */
function waitOf(headers: Record<string, string> | undefined): { retryAfterMs?: number; retryAt?: string } {
  const exact = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return { retryAfterMs: exact };
  const asked = headers?.["retry-after"];
  if (asked === undefined) return {};
  const seconds = Number(asked);
  if (Number.isFinite(seconds)) return seconds >= 0 ? { retryAfterMs: Math.round(seconds * 1000) } : {};
  const date = Date.parse(asked);
  return Number.isNaN(date) ? {} : { retryAt: new Date(date).toISOString() };
}

function waitText(details: Record<string, unknown>): string {
  if (typeof details.retryAfterMs === "number")
    return `; it asks to wait ${Math.ceil(details.retryAfterMs / 1000)} s`;
  return typeof details.retryAt === "string" ? `; it asks to wait until ${details.retryAt}` : "";
}

/** An error of the socket under a running answer, by the codes of Node and undici, anywhere in its causes. */
function isNetworkError(error: unknown): boolean {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    const { code } = current as { code?: unknown };
    if (typeof code === "string" && /^(UND_ERR_|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET)/.test(code))
      return true;
    current = current.cause;
  }
  return false;
}
