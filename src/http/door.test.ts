import { afterAll, describe, expect, test } from "vitest";
import { httpGateway, startHttpGateway, type HttpGateway } from "../../test/support/http-gateway.ts";
import { agent } from "../agents/agent-factory.ts";
import { manualClock, systemClock } from "../kernel/clock.ts";
import type { WireProblem } from "./api.ts";

const config = { agents: { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) } };

describe("who may come in", () => {
  const gateways = new Map<string, HttpGateway>();
  afterAll(() => Promise.all([...gateways.values()].map((gateway) => gateway.stop())));

  const call = async (
    options: Parameters<typeof httpGateway>[1],
    path: string,
    headers: Record<string, string>,
    method = "GET",
  ) => {
    const key = JSON.stringify(options);
    const gateway = gateways.get(key) ?? (await startHttpGateway(config, options));
    gateways.set(key, gateway);
    const response = await gateway.call(path, { method, headers });
    const text = await response.text();
    return { status: response.status, code: /"code":"(\w+)"/.exec(text)?.[1], headers: response.headers };
  };

  test.each([
    ["localhost:8787", 200],
    ["127.0.0.1:8787", 200],
    ["[::1]:8787", 200],
    ["app.localhost", 200],
    ["evil.example", 403],
    ["localhost.evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["", 403],
  ])("Host %s: %i", async (host, status) => {
    const answer = await call({}, "/v1/runs", { host });
    expect([answer.status, answer.code]).toEqual([status, status === 403 ? "foreign_host" : undefined]);
  });

  test("a host name that is listed is served, with its port if one is listed", async () => {
    const hosts = ["gateway.example", "other.example:8080"];
    expect((await call({ hosts }, "/v1/runs", { host: "gateway.example:99" })).status).toBe(200);
    expect((await call({ hosts }, "/v1/runs", { host: "other.example:8080" })).status).toBe(200);
    expect((await call({ hosts }, "/v1/runs", { host: "other.example:8081" })).status).toBe(403);
  });

  test.each([
    ["http://localhost:8787", 200],
    ["http://127.0.0.1:8787", 200],
    ["http://localhost:3000", 403],
    ["https://evil.example", 403],
    ["null", 403],
  ])("Origin %s: %i", async (origin, status) => {
    const answer = await call({}, "/v1/runs", { host: "localhost:8787", origin });
    expect([answer.status, answer.code]).toEqual([status, status === 403 ? "foreign_origin" : undefined]);
  });

  test("a listed origin may read the answers, after asking if need be", async () => {
    const origin = "https://app.example";
    const options = { origins: [origin], token: "secret" };
    const asked = await call(options, "/v1/messages", { origin, host: "localhost" }, "OPTIONS");
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    const read = await call(options, "/v1/runs", {
      origin,
      host: "localhost",
      authorization: "Bearer secret",
    });
    expect(read.headers.get("access-control-allow-origin")).toBe(origin);
  });

  test.each([
    [undefined, 401],
    ["Bearer wrong", 401],
    ["Basic c2VjcmV0", 401],
    ["Bearer secret", 200],
    ["bearer secret", 200],
  ])("Authorization %s: %i", async (authorization, status) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    for (const path of ["/v1/runs", "/metrics", "/openapi.json"]) {
      const answer = await call({ token: "secret" }, path, headers);
      expect(answer.status).toBe(status);
      if (status === 401) expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    }
  });

  test("health is open, under any name", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      expect((await call({ token: "secret" }, path, { host: "10.1.2.3" })).status).toBe(200);
    }
  });

  test("beyond loopback the token guards, and host names only if some are listed", async () => {
    const far = { loopback: false, token: "secret" };
    const headers = { host: "10.1.2.3:8787", authorization: "Bearer secret" };
    expect((await call(far, "/v1/runs", headers)).status).toBe(200);
    expect((await call({ ...far, hosts: ["gateway.example"] }, "/v1/runs", headers)).code).toBe(
      "foreign_host",
    );
  });

  test("too many requests of one caller are told when to come again", async () => {
    const clock = { ...manualClock(), after: systemClock.after };
    let now = 1_700_000_000_000;
    const gateway = await httpGateway(
      { ...config, limits: { requestsPerMinute: 3 } },
      { clock: { ...clock, now: () => now } },
    );
    const statuses = async (times: number) =>
      Promise.all(Array.from({ length: times }, async () => (await gateway.call("/v1/runs")).status));
    expect(await statuses(4)).toEqual([200, 200, 200, 429]);
    const { headers, body } = await gateway.get<WireProblem>("/v1/runs");
    expect([body.code, headers.get("retry-after")]).toEqual(["rate_limited", "20"]);
    expect((await gateway.call("/healthz")).status).toBe(200);
    now += 20_000;
    expect(await statuses(2)).toEqual([200, 429]);
  });

  test("channels answer for themselves: no host, origin or token is asked of them", async () => {
    const headers = { host: "tunnel.example", origin: "https://x.example" };
    expect((await call({ token: "secret" }, "/channels/nope/x", headers)).code).toBe("not_found");
  });
});
