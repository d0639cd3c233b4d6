import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { Grant } from "../../ledger/grants.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { readBytes } from "../body.ts";
import type { HttpPorts } from "../ports.ts";
import type { Routes } from "../route.ts";
import { toolServer } from "./tool-server.ts";

/** Streams that wait for changes of our list of tools, which never come; a few clients open one all the same. */
const LISTENERS_MOST = 100;

/**
 * `/mcp`: the agents' tools (Model Context Protocol, streamable HTTP, revisions 2025-03-26 to 2026-07-28). Stateless: each
 * request has its own server object and is answered by any node. The door has let in a token for tools and nothing else.
 */
export function mcpRoute({ app, bodyBytes }: Routes, ports: HttpPorts): void {
  let handler: Promise<McpHttpHandler> | null = null;
  app.all("/mcp", async (c) => {
    const token = c.get("grant");
    if (token === null) throw noGrant();
    const grant = await ports.tools.open(token);
    const { raw } = c.req;
    const { url, method, headers, signal } = raw;
    const hasBody = method !== "GET" && method !== "HEAD";
    const body = hasBody ? await readBytes(raw, bodyBytes) : undefined;
    handler ??= makeHandler(ports);
    const request = new Request(url, { method, headers, signal, body: body as BodyInit | undefined });
    const auth = { token, clientId: grant.id, scopes: [], extra: { grant } };
    const answer = await (await handler).fetch(request, { authInfo: auth });
    const merged = new Headers(answer.headers);
    for (const [name, value] of Object.entries(c.get("headers"))) {
      if (name !== "cache-control" || !merged.has(name)) merged.set(name, value);
    }
    return new Response(answer.body, { status: answer.status, headers: merged });
  });
}

/** Loaded at the first call: a gateway whose agents use no tools does without. */
async function makeHandler(ports: HttpPorts): Promise<McpHttpHandler> {
  const { createMcpHandler, McpServer } = await import("@modelcontextprotocol/server");
  const handler = createMcpHandler(
    ({ authInfo }) => toolServer(McpServer, ports, authInfo?.extra?.["grant"] as Grant),
    {
      maxSubscriptions: LISTENERS_MOST,
      onerror: (error) => ports.log.debug({ error: String(error) }, "a request for tools was refused"),
    },
  );
  ports.stopped?.addEventListener("abort", () => void handler.close(), { once: true });
  return handler;
}

function noGrant(): WaybillError {
  return new WaybillError(
    "invalid_grant",
    "The tools ask for the token of a grant: send the header Authorization: Bearer with the WAYBILL_GRANT that the " +
      "agent's process was given. An operator's token does not open them.",
  );
}
