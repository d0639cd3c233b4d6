/** Health, metrics and logs that can be followed. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import { recordingChannel } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { waybill } from "./command.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn } from "./support.ts";

const echo = agent.fn(async (ctx) => {
  if (ctx.text === "fail") throw new Error("no");
  return `You said: ${ctx.text}`;
});

scenario(
  ["OPER-1", "SECU-2"],
  "doctor finds a wrong setting before a user does, and says what to do",
  async () => {
    const wrong = "export default { agents: {}, chanels: [] };";
    const found = await waybill(["doctor", "--json", "--port", "0"], { config: wrong });
    expect(found.code).toBe(1);
    const { ok, findings } = JSON.parse(found.stdout) as {
      ok: boolean;
      findings: { check: string; result: string; text: string; todo: string | null }[];
    };
    expect(ok).toBe(false);
    const settings = findings.find(({ check }) => check === "settings");
    expect(settings).toMatchObject({ result: "fail", todo: expect.stringContaining("config check") });
    expect(settings?.text).toContain('Did you mean "channels"?');
    const open = await waybill(["doctor", "--json", "--port", "0", "--host", "0.0.0.0"]);
    expect(open.code).toBe(1);
    expect(open.stdout).toContain("WAYBILL_TOKEN");
    const fine = await waybill(["doctor", "--json", "--port", "0"]);
    expect({ code: fine.code, out: fine.stdout }).toMatchObject({
      code: 0,
      out: expect.stringContaining('"ok":true'),
    });
    const started = await waybill(["start", "--port", "0"], { config: wrong });
    expect(started.code).toBe(5);
    expect(started.stderr).toContain("chanels");
  },
);

eachStore((store) => {
  scenario(["OPER-1"], "health and readiness are told, and change with the gateway", async () => {
    await using t = await gatewayOn(store, { agents: { echo } });
    const health = await t.fetch("/healthz");
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({ ok: true, version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    const ready = await t.fetch("/readyz");
    expect([ready.status, await ready.json()]).toEqual([200, { ready: true, reason: null }]);
    await t.stop();
    const stopped = await t.fetch("/readyz");
    expect(stopped.status).toBe(503);
    expect(await stopped.json()).toMatchObject({ code: "shutting_down" });
  });

  scenario(["OPER-1"], "while it stops it says that it is not ready, and takes nothing more", async () => {
    const [working, finish] = [gate(), gate()];
    const slow = agent.fn(async () => {
      working.open();
      await finish.opened;
      return "done";
    });
    await using t = await gatewayOn(store, { agents: { slow } });
    const asked = await t.post("hi");
    await working.opened;
    const before = await t.gateway();
    const isStopped = before.stop({ graceMs: 60_000 });
    const stopping = await before.fetch(new Request("http://127.0.0.1/readyz"));
    expect([stopping.status, await stopping.json()]).toEqual([
      503,
      { ready: false, reason: "the gateway is stopping" },
    ]);
    const refused = await before.fetch(
      new Request("http://127.0.0.1/v1/messages", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ conversation: "c", text: "too late" }),
      }),
    );
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
      503,
      "shutting_down",
    ]);
    finish.open();
    await isStopped;
    await t.restart();
    // What was going on has been finished within its grace.
    expect(await t.run(asked.run ?? "")).toMatchObject({ state: "completed", attempts: 1 });
    expect((await t.messages()).map(({ text }) => text)).toEqual(["hi", "done"]);
  });

  scenario(["OPER-1"], "metrics count what was accepted, ended and delivered", async () => {
    const chat = recordingChannel({ kind: "chat" });
    await using t = await gatewayOn(store, { agents: { echo }, channels: [chat] });
    await t.say("hi", { address: "chat:test/room" });
    await t.say("hi");
    await t.say("fail");
    await t.say("status");
    const answer = await t.fetch("/metrics");
    expect(answer.headers.get("content-type")).toContain("text/plain");
    const lines = (await answer.text()).split("\n");
    for (const line of [
      'waybill_messages_accepted_total{outcome="queued"} 3',
      'waybill_messages_accepted_total{outcome="replied"} 1',
      'waybill_runs_ended_total{state="completed"} 2',
      'waybill_runs_ended_total{state="failed"} 1',
      'waybill_deliveries_settled_total{state="delivered"} 1',
      "waybill_runs_live 0",
      "waybill_run_wait_seconds_count 3",
    ]) {
      expect(lines).toContain(line);
    }
  });

  scenario(
    ["OPER-1"],
    "logs carry the ids of turn, run, stream and delivery, so that a story can be followed",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const logging = agent.fn(async (ctx) => {
        ctx.log.info({ step: 1 }, "a line of the agent");
        return "done";
      });
      await using t = await gatewayOn(store, { agents: { logging }, channels: [chat] });
      const said = await t.say("hi", { address: "chat:test/room" });
      const [delivery] = await t.deliveries({ turn: said.turn });
      const { stream } = await t.run(said.run ?? "");
      const line = (message: string) => t.logs.find((one) => one.message === message)?.fields;
      expect(line("a message was accepted")).toMatchObject({ turn: said.turn, run: said.run });
      expect(line("a line of the agent")).toMatchObject({ turn: said.turn, run: said.run, stream, step: 1 });
      expect(line("a run has ended")).toMatchObject({
        turn: said.turn,
        run: said.run,
        stream,
        state: "completed",
      });
      expect(line("an op was attempted")).toMatchObject({ delivery: delivery?.id, outcome: "done" });
      const request = await t.fetch("/v1/runs", { headers: { "x-request-id": "req-of-mine" } });
      expect(request.headers.get("x-request-id")).toBe("req-of-mine");
      expect(t.logs.some(({ fields }) => fields["request"] === "req-of-mine")).toBe(true);
    },
  );
});
