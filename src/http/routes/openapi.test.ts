import { expect, test } from "vitest";
import { httpGateway } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, unknown>; requestBody?: unknown }>>;
}

test("the API is described from the routes that are served", async () => {
  const gateway = await httpGateway({ agents: { echo: agent.fn(async () => "hi") } });
  const { body } = await gateway.get<Document>("/openapi.json");
  expect(body.openapi).toBe("3.1.0");
  const routes = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.toSorted()).toEqual([
    "DELETE /v1/schedules/{id}",
    "DELETE /v1/slots/{account}/{slot}",
    "GET /api/chat/{id}/stream",
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "GET /v1/channels",
    "GET /v1/conversations",
    "GET /v1/conversations/events",
    "GET /v1/deliveries",
    "GET /v1/deliveries/{id}",
    "GET /v1/denials",
    "GET /v1/messages",
    "GET /v1/node",
    "GET /v1/refusals",
    "GET /v1/runs",
    "GET /v1/runs/{id}",
    "GET /v1/runs/{id}/events",
    "GET /v1/schedules",
    "GET /v1/schedules/{id}",
    "GET /v1/slots",
    "GET /v1/status",
    "GET /v1/stream/{id}",
    "GET /v1/why/{id}",
    "PATCH /v1/schedules/{id}",
    "POST /api/chat",
    "POST /api/chat/{id}/stop",
    "POST /v1/deliveries/{id}/retry",
    "POST /v1/messages",
    "POST /v1/runs/{id}/cancel",
    "POST /v1/runs/{id}/retry",
    "POST /v1/schedules",
    "POST /v1/schedules/{id}/fire",
    "POST /v1/sends",
  ]);
  const post = body.paths["/v1/messages"]?.["post"];
  expect(JSON.stringify(post?.requestBody)).toContain('"required":["conversation"]');
  expect(Object.keys(post?.responses ?? {})).toEqual(
    expect.arrayContaining(["202", "400", "401", "404", "409", "413", "415", "429"]),
  );
  expect(JSON.stringify(post?.responses["409"])).toContain("idempotency_conflict");
});

test("metrics are told in Prometheus' format", async () => {
  const gateway = await httpGateway({ agents: { echo: agent.fn(async () => "hi") } });
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  await gateway.ended(body.run);
  const response = await gateway.call("/metrics");
  expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
  expect(await response.text()).toMatch(/^waybill_messages_accepted_total\{outcome="queued"\} 1$/m);
});
