import type { WireNode } from "../api.ts";
import type { HttpPorts } from "../ports.ts";
import { json, route, type Routes } from "../route.ts";

/** Which process answers, and what it can do. Its pid is for whoever has to look after it, or wants to see it die. */
export function nodeRoute(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/node",
      summary: "The process that answers: its boot id, its pid, and the agents that it has.",
      answers: { 200: { description: "The process." } },
    },
    (c) => {
      const { agents, node } = ports;
      return json(c, 200, {
        version: ports.version,
        boot: node?.boot ?? null,
        pid: node?.pid ?? null,
        agents: agents.names.map((name) => {
          const { version, background } = agents.get(name);
          return { name, version, background };
        }),
        defaultAgent: agents.names.length > 0 ? agents.defaultName : null,
      } satisfies WireNode);
    },
  );
}
