import { asWaybillError, httpStatusOf, type WaybillError } from "../kernel/errors.ts";
import type { HttpContext } from "./context.ts";

/** Members of a problem that an error's details cannot replace. */
const ours = new Set(["type", "title", "status", "code", "detail", "request"]);

/**
 * Any error as `application/problem+json` (RFC 9457): its code, its message for people, and what a program can use as
 * members of their own. What is not an error of ours says nothing of its cause; the log does.
 */
export function problemOf(thrown: unknown, c: HttpContext): Response {
  const error = asWaybillError(thrown);
  const status = httpStatusOf(error.code);
  const request = c.get("request");
  if (status >= 500) logFailure(error, c);
  const details = Object.entries(error.details).filter(([name]) => !ours.has(name));
  const body = {
    type: "about:blank",
    title: titleOf(error.code),
    status,
    code: error.code,
    detail: error.message,
    request,
    ...Object.fromEntries(details),
  };
  const headers = { ...c.get("headers"), ...headersOf(error), "content-type": "application/problem+json" };
  return new Response(JSON.stringify(body), { status, headers });
}

/** `body_too_large` -> `Body too large`. */
function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function headersOf(error: WaybillError): Record<string, string> {
  const { details } = error;
  switch (error.code) {
    case "unauthorized":
    case "invalid_grant":
    case "grant_expired":
      return { "www-authenticate": 'Bearer realm="waybill"' };
    case "rate_limited":
      return { "retry-after": String(Number(details["retryAfter"] ?? 1)) };
    case "shutting_down":
    case "store_unavailable":
      return { "retry-after": "2" };
    case "method_not_allowed":
      return { allow: (details["allow"] as string[]).join(", ") };
    case "body_too_large":
      return details["drained"] === false ? { connection: "close" } : {};
    default:
      return {};
  }
}

function logFailure(error: WaybillError, c: HttpContext): void {
  const cause = error.cause instanceof Error ? (error.cause.stack ?? String(error.cause)) : undefined;
  c.get("log").error(
    { code: error.code, method: c.req.method, path: c.req.path, ...(cause ? { cause } : {}) },
    error.message,
  );
}
