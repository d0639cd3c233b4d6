import { describe, expect, test } from "vitest";
import { agent } from "../../agents/agent-factory.ts";
import { httpGateway } from "../../../test/support/http-gateway.ts";

const agents = { echo: agent.fn(async (ctx) => ctx.text) };
const headers = { "content-type": "application/json" };

describe("what cannot be taken", () => {
  test("is answered with its code and field", async () => {
    const { call } = await httpGateway({ agents });
    const ask = async (method: string, path: string, body?: unknown): Promise<string> => {
      const init = body === undefined ? {} : { headers, body: JSON.stringify(body) };
      const answer = await call(path, { method, ...init });
      const { code, issues } = (await answer.json()) as { code?: string; issues?: { field: string }[] };
      return [answer.status, code, issues?.[0]?.field].filter((one) => (one ?? "") !== "").join(" ");
    };
    const [text, cron] = ["x", "@daily"];
    const other = Buffer.from(JSON.stringify([1, "x"])).toString("base64url");
    const tried: [string, string, unknown, string][] = [
      ["GET", "/v1/denials?next=garbage", undefined, "400 invalid_request next"],
      ["GET", `/v1/denials?next=${other}`, undefined, "400 invalid_request next"],
      ["GET", `/v1/refusals?next=${other}`, undefined, "400 invalid_request next"],
      ["GET", "/v1/refusals?limit=0", undefined, "400 invalid_request limit"],
      ["GET", "/v1/schedules?state=late", undefined, "400 invalid_request state"],
      ["GET", "/v1/schedules/none", undefined, "404 unknown_schedule"],
      ["GET", "/v1/schedules/%20", undefined, "400 invalid_id"],
      ["POST", "/v1/schedules", { cron }, "400 invalid_request text"],
      ["POST", "/v1/schedules", { cron, text, more: 1 }, "400 invalid_request more"],
      ["POST", "/v1/schedules", { text, at: "tomorrow" }, "400 invalid_request at"],
      ["POST", "/v1/schedules", { text, inMs: -1 }, "400 invalid_request inMs"],
      ["POST", "/v1/schedules", { text, inMs: 1e15 }, "400 invalid_request at"],
      ["POST", "/v1/schedules", { text, at: "2099-01-01T00:00:00Z" }, "400 invalid_request at"],
      ["POST", "/v1/schedules", { text, cron, to: "*" }, "400 invalid_request to"],
      ["POST", "/v1/schedules", { text: "x".repeat(10_001), cron }, "400 invalid_request text"],
      ["PATCH", "/v1/schedules/none", { state: "active" }, "404 unknown_schedule"],
      ["PATCH", "/v1/schedules/none", {}, "400 invalid_request"],
      ["PATCH", "/v1/schedules/none", { state: "done" }, "400 invalid_request state"],
      ["DELETE", "/v1/schedules/none", undefined, "404 unknown_schedule"],
      ["POST", "/v1/schedules/none/fire", undefined, "404 unknown_schedule"],
      ["PUT", "/v1/schedules/none", {}, "405 method_not_allowed"],
      ["DELETE", "/v1/slots/web/last-active", undefined, "400 invalid_request account"],
      ["DELETE", "/v1/slots/web%3Amain/first-seen", undefined, "400 invalid_request slot"],
      ["POST", "/v1/deliveries/none/retry", { to: "web:main/a" }, "404 unknown_delivery"],
    ];
    for (const [method, path, body, said] of tried) {
      expect({ method, path, said: await ask(method, path, body) }).toEqual({ method, path, said });
    }
    expect(await ask("DELETE", "/v1/slots/web%3Amain/last-active")).toBe("200");
  });

  test("one is fired now only while it is active", async () => {
    const schedules = [{ id: "beat", cron: "0 0 1 1 *", to: "web:main/ops", text: "hello" }];
    const { call, get, post, hint } = await httpGateway({ agents, schedules });
    const posted = hint((one) => one.kind === "posted" && one.address === "web:main/ops");
    const fired = await post("/v1/schedules/beat/fire");
    expect(fired.status).toBe(202);
    await posted;
    const { body } = await get<{ nextAt: string; lastDelivery: string }>("/v1/schedules/beat");
    expect(body.lastDelivery).toMatch(/^dlv_/);
    expect(body.nextAt).toMatch(/-01-01T00:00:00/);
    const disabled = JSON.stringify({ state: "disabled" });
    await call("/v1/schedules/beat", { method: "PATCH", headers, body: disabled });
    const refused = await post<{ code: string; detail: string }>("/v1/schedules/beat/fire");
    expect([refused.body.code, refused.body.detail]).toEqual([
      "invalid_request",
      "state is disabled; only what is active can be fired.",
    ]);
  });

  test("one that is done or of the settings takes no state, and two fields go together", async () => {
    const schedules = [{ id: "beat", cron: "@daily", text: "x" }];
    const { call, post } = await httpGateway({ agents, schedules });
    const patch = async (id: string, body: unknown) => {
      const answer = await call(`/v1/schedules/${id}`, {
        method: "PATCH",
        headers,
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { detail?: string }).detail;
    };
    expect(await patch("beat", { to: "web:main/a" })).toContain("stands in the settings: change it there");
    await post("/v1/schedules", { id: "mine", cron: "@daily", text: "x" });
    expect(await patch("mine", { account: "web:main" })).toContain("goes with to only");
    expect(await patch("mine", { to: "last-active" })).toContain('whose "last-active"?');
    expect(await patch("mine", { to: "latest-seen", account: "web:main" })).toBeUndefined();
  });
});
