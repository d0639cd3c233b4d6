import type { MiddlewareHandler } from "hono";
import { sameText } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import { isGrantToken } from "../runs/grant-tokens.ts";
import { operator, type HttpContext, type HttpEnv } from "./context.ts";
import type { Door, HttpPorts } from "./ports.ts";
import { rateLimit } from "./rate-limit.ts";

/**
 * Who may come in: Host, Origin, rate, token, in this order. Below `/channels/` nothing of this is asked, since
 * platforms call through tunnels under any name; each channel verifies its own signatures there. Health checks are open.
 */
export function door(ports: HttpPorts): MiddlewareHandler<HttpEnv> {
  const { door: rules } = ports;
  const allow = rules.perMinute === null ? null : rateLimit(rules.perMinute, ports.clock);
  return async (c, next) => {
    const { path } = c.req;
    c.set("principal", operator);
    c.set("grant", null);
    if (path.startsWith("/channels/") || path === "/healthz" || path === "/readyz") return next();
    checkHost(rules, c);
    const origin = checkOrigin(rules, c);
    if (origin !== null) allowOrigin(c, origin);
    if (origin !== null && c.req.method === "OPTIONS") return preflight(c);
    if (allow) allow(callerOf(c));
    const given = bearerOf(c);
    if (path === toolsPath || (given !== undefined && isGrantToken(given))) admitGrant(c, given);
    // The page itself holds nothing: it asks its reader for the token.
    else if (path !== "/") checkToken(rules, given);
    return next();
  };
}

const loopbackName = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function isLoopback(hostname: string): boolean {
  return loopbackName.test(hostname);
}

/** `Name:8787` -> `{ name: "name", port: "8787" }`; null if it is no host. */
function parseHost(host: string): { name: string; port: string } | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase());
  return match ? { name: match[1]!.replace(/\.$/, ""), port: match[2] ?? "" } : null;
}

function hostOf(c: HttpContext): string {
  return c.req.header("host") ?? new URL(c.req.url).host;
}

/**
 * A page of a stranger can make a browser call this server under the stranger's own name (DNS rebinding); only names
 * that we know are served. Beyond loopback there is always a token, which such a page does not have; there the check is
 * on only if host names are set.
 */
export function checkHost(rules: Door, c: HttpContext): void {
  if (!rules.loopback && rules.hosts.length === 0) return;
  const given = hostOf(c);
  const host = parseHost(given);
  if (host && (isLoopback(host.name) || isListed(rules.hosts, host))) return;
  throw new WaybillError(
    "foreign_host",
    `The Host header names "${given.slice(0, 80)}", which this gateway does not serve. Open it as localhost, or add the name to WAYBILL_HOSTS or the option hosts.`,
    { host: given.slice(0, 80) },
  );
}

function isListed(hosts: readonly string[], host: { name: string; port: string }): boolean {
  return hosts.some((listed) => {
    const known = parseHost(listed);
    return known !== null && known.name === host.name && (known.port === "" || known.port === host.port);
  });
}

/** @returns an origin that is listed and not our own, which needs to be told that it may read the answer; else null */
function checkOrigin(rules: Door, c: HttpContext): string | null {
  const origin = c.req.header("origin");
  if (origin === undefined) return null;
  if (rules.origins.some((listed) => listed.toLowerCase().replace(/\/$/, "") === origin.toLowerCase())) {
    return origin;
  }
  if (isOwn(origin, hostOf(c))) return null;
  throw new WaybillError(
    "foreign_origin",
    `A page of ${origin.slice(0, 80)} made this request, which is not an origin that may. Add it to WAYBILL_ORIGINS or the option origins.`,
    { origin: origin.slice(0, 80) },
  );
}

/** The page came from this server: from the host that was asked, or from another of its loopback names. */
function isOwn(origin: string, asked: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return false;
  if (url.host === asked.toLowerCase()) return true;
  const from = parseHost(url.host);
  const host = parseHost(asked);
  return (
    from !== null &&
    host !== null &&
    isLoopback(from.name) &&
    isLoopback(host.name) &&
    from.port === host.port
  );
}

/** Cross-origin reading for an origin that the operator listed (Fetch standard, CORS protocol). */
function allowOrigin(c: HttpContext, origin: string): void {
  Object.assign(c.get("headers"), {
    "access-control-allow-origin": origin,
    "access-control-expose-headers":
      "stream-next-offset, stream-up-to-date, stream-closed, stream-cursor, etag, retry-after, x-request-id, idempotent-replay, x-vercel-ai-ui-message-stream",
    vary: "origin",
  });
}

function preflight(c: HttpContext): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...c.get("headers"),
      "access-control-allow-methods": "GET, HEAD, POST, PATCH, DELETE",
      "access-control-allow-headers":
        "authorization, content-type, last-event-id, if-none-match, x-request-id",
      "access-control-max-age": "600",
    },
  });
}

/** Whom requests are counted for: the address that they come from; an embedding program counts as one. */
function callerOf(c: HttpContext): string {
  return c.env?.incoming?.socket?.remoteAddress ?? "embedded";
}

function bearerOf(c: HttpContext): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1];
}

const toolsPath = "/mcp";

/**
 * Who has a token for tools comes in at two doors, and is looked at there: nothing else opens with it, also where no
 * operator's token is asked. The tools' own door opens with nothing else.
 */
function admitGrant(c: HttpContext, given: string | undefined): void {
  const { path, method } = c.req;
  if (path === toolsPath || (path === "/v1/sends" && method === "POST")) {
    c.set("grant", given !== undefined && isGrantToken(given) ? given : null);
    return;
  }
  throw new WaybillError("forbidden", "A token for tools opens /mcp and POST /v1/sends, and nothing else.");
}

function checkToken(rules: Door, given: string | undefined): void {
  if (rules.token === null) return;
  if (given !== undefined && sameText(given, rules.token)) return;
  throw new WaybillError(
    "unauthorized",
    given === undefined
      ? "This gateway asks for a token: send the header Authorization: Bearer with the value of WAYBILL_TOKEN."
      : "The token is wrong: send the value of WAYBILL_TOKEN.",
  );
}
