import { Hono } from "hono";
import { WaybillError } from "../kernel/errors.ts";
import { wellFormedId } from "../kernel/ids.ts";
import { readBytes } from "./body.ts";
import { consoleFiles } from "./console-files.ts";
import type { HttpContext, HttpEnv } from "./context.ts";
import { door } from "./door.ts";
import { mcpRoute } from "./mcp/mcp-route.ts";
import type { HttpPorts } from "./ports.ts";
import { problemOf } from "./problem.ts";
import type { Routes } from "./route.ts";
import { chatRoutes } from "./routes/chat.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { denialRoutes } from "./routes/denials.ts";
import { feedRoutes } from "./routes/feed.ts";
import { channelStateRoutes } from "./routes/channels.ts";
import { healthRoutes } from "./routes/health.ts";
import { messageRoutes } from "./routes/messages.ts";
import { nodeRoute } from "./routes/node.ts";
import { openapiRoute } from "./routes/openapi.ts";
import { pageRoute } from "./routes/page.ts";
import { runRoutes } from "./routes/runs.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { sendRoutes } from "./routes/sends.ts";
import { statusRoutes } from "./routes/status.ts";
import { streamRoutes } from "./routes/streams.ts";
import { whyRoutes } from "./routes/why.ts";
import { sseServer } from "./sse.ts";

/** What answers requests. `env` is what a server's adapter hands over beside the request (Node's own two objects). */
export interface HttpApp {
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

/** The HTTP server of a gateway. */
export function createApp(ports: HttpPorts): HttpApp {
  const app = new Hono<HttpEnv>();
  const routes: Routes = { app, bodyBytes: ports.door.bodyBytes, specs: [] };
  const sse = sseServer(ports.clock, ports.stopped);
  app.onError((error, c) => problemOf(error, c));
  app.use(begin(ports));
  app.use(consoleFiles(ports));
  app.use(door(ports));
  healthRoutes(routes, ports);
  channelStateRoutes(routes, ports);
  messageRoutes(routes, ports);
  // Before `/v1/conversations/...` could mean anything else.
  feedRoutes(routes, ports, sse);
  conversationRoutes(routes, ports);
  statusRoutes(routes, ports);
  runRoutes(routes, ports);
  deliveryRoutes(routes, ports);
  sendRoutes(routes, ports);
  denialRoutes(routes, ports);
  scheduleRoutes(routes, ports);
  streamRoutes(routes, ports, sse);
  chatRoutes(routes, ports, sse);
  whyRoutes(routes, ports);
  nodeRoute(routes, ports);
  openapiRoute(routes, ports);
  pageRoute(routes, ports);
  mcpRoute(routes, ports);
  channelRoutes(routes, ports);
  refuseOtherMethods(routes);
  app.notFound((c) => problemOf(notFound(c), c));
  return app;
}

/** What every answer carries, an id for the log, and one line in it. */
function begin(ports: HttpPorts) {
  return async (c: HttpContext, next: () => Promise<void>): Promise<void> => {
    const given = c.req.header("x-request-id");
    const request = given !== undefined && wellFormedId.test(given) ? given : ports.ids.next("req");
    const began = ports.clock.now();
    c.set("request", request);
    c.set("log", ports.log.child({ request }));
    c.set("headers", {
      "x-request-id": request,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
    });
    await next();
    const { method, path } = c.req;
    c.get("log").debug({ method, path, status: c.res.status, ms: ports.clock.now() - began }, "answered");
  };
}

/** Below `/channels/{kind}/` each channel answers for itself; a body that is too large does not reach it. */
function channelRoutes({ app, bodyBytes }: Routes, ports: HttpPorts): void {
  app.all("/channels/:kind/*", async (c) => {
    const handle = ports.channels.get(c.req.param("kind"));
    if (!handle) throw notFound(c);
    const { raw } = c.req;
    const hasBody = raw.method !== "GET" && raw.method !== "HEAD";
    const { url, method, headers } = raw;
    const body = hasBody ? await readBytes(raw, bodyBytes) : undefined;
    return handle(new Request(url, { method, headers, body: body as BodyInit | undefined }));
  });
}

function notFound(c: HttpContext): WaybillError {
  return new WaybillError(
    "not_found",
    `There is nothing at ${c.req.path.slice(0, 200)}; /openapi.json lists what there is.`,
  );
}

function refuseOtherMethods({ app, specs }: Routes): void {
  const byPath = Map.groupBy(specs, (spec) => spec.pattern ?? spec.path.replaceAll(/\{(\w+)\}/g, ":$1"));
  for (const [pattern, same] of byPath) {
    const allow = same.flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]));
    app.all(pattern, (c) => {
      throw new WaybillError(
        "method_not_allowed",
        `${c.req.path.slice(0, 200)} is not there for ${c.req.method}, but for ${allow.join(" and ")}.`,
        { allow },
      );
    });
  }
}
