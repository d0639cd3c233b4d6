import type { HttpPorts } from "../ports.ts";
import { json, route, type Routes } from "../route.ts";

export function healthRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/healthz",
      summary: "The process answers.",
      answers: { 200: { description: "It does, with its version." } },
    },
    (c) => json(c, 200, { ok: true, version: ports.version }),
  );
  route(
    routes,
    {
      method: "get",
      path: "/readyz",
      summary: "It can take messages: started, not stopping, and the store answers.",
      answers: { 200: { description: "Ready." }, 503: { description: "Not ready, with the reason." } },
    },
    async (c) => {
      const state = await ports.ready();
      return json(c, state.ready ? 200 : 503, state);
    },
  );
  route(
    routes,
    {
      method: "get",
      path: "/metrics",
      summary: "Metrics in Prometheus' text format.",
      answers: { 200: { description: "The metrics.", type: "text/plain" } },
    },
    async (c) => {
      const { contentType, body } = await ports.metrics();
      return new Response(body, { headers: { ...c.get("headers"), "content-type": contentType } });
    },
  );
}
