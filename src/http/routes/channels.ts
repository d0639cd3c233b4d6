import type { HttpPorts } from "../ports.ts";
import { json, route, type Routes } from "../route.ts";

export function channelStateRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/channels",
      summary: "The channels of this node and how each stands: on, connecting, standing by, or off.",
      answers: { 200: { description: "The channels, each with the reason where it is not on." } },
    },
    (c) => json(c, 200, { items: ports.channelStates() }),
  );
}
