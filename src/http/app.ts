import { Hono } from "hono";
import type { HttpPorts } from "./ports.ts";

/** The HTTP server of a gateway as a Hono app. */
export function createApp(ports: HttpPorts): Hono {
  const app = new Hono();
  app.get("/healthz", (c) => c.json({ ok: true, version: ports.version }));
  return app;
}
