/** Who may do what, and what stays secret. */
import { expect } from "vitest";
import { agent, type WaybillConfig } from "../../src/index.ts";
import { recordingChannel, testGateway } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, readTables, refusal } from "./support.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

async function problem(answer: Response): Promise<{ status: number; code: unknown }> {
  const body = (await answer.json()) as { code?: unknown };
  return { status: answer.status, code: body.code };
}

/** Everything that a store and a log hold, as text. */
async function everything(databaseUrl: string, logs: unknown): Promise<string> {
  const tables = [
    "messages",
    "run_events",
    "runs",
    "memory_items",
    "deliveries",
    "ops",
    "denials",
    "turns",
  ] as const;
  const rows = await Promise.all(
    tables.map((table) => readTables(databaseUrl, (k) => k.selectFrom(table).selectAll())),
  );
  return JSON.stringify([logs, rows]);
}

eachStore((store) => {
  scenario(
    ["SECU-1"],
    "a sender who is not on the list causes one counted record of the denial and nothing else",
    async () => {
      const chat = recordingChannel({ kind: "chat", allow: { senders: ["ada"] } });
      for (const followUp of ["queue", "steer", "interrupt"] as const) {
        const [working, finish] = [gate(), gate()];
        const prompts: string[] = [];
        const slow = agent.fn(
          async (ctx) => {
            prompts.push([...ctx.history, ctx].map(({ text }) => text).join(" | "));
            if (ctx.text !== "work") return "done";
            working.open();
            await finish.opened;
            return (await ctx.takeSteering()).map(({ text }) => text).join() || "not steered";
          },
          { steerable: true },
        );
        await using t = await gatewayOn(store, {
          agents: { slow },
          channels: [chat],
          followUp,
          lastActive: true,
        });
        const asked = await chat.receive("room", "work", {
          sender: "ada",
          kind: "channel",
          id: `w-${followUp}`,
        });
        await working.opened;
        const attempts = chat.attempts.length;
        const before = await t.messages();
        for (const text of ["status", "stop", "/new", "help", "steer this"]) {
          for (const thread of [undefined, "t1"]) {
            const denied = await refusal(() =>
              chat.receive("room", text, { sender: "eve", thread, kind: "channel" }),
            );
            expect(denied.code).toBe("sender_not_allowed");
          }
        }
        await expect(chat.receive("eves-dm", "hi", { sender: "eve" })).rejects.toThrow(
          "not on the allowlist",
        );
        expect(await t.messages()).toEqual(before);
        expect(chat.attempts).toHaveLength(attempts);
        expect(await t.runs()).toMatchObject([{ id: asked.run, state: "running", abortCause: null }]);
        expect((await t.conversations()).map(({ address }) => address)).toEqual(["chat:test/room"]);
        const slots = await readTables(t.databaseUrl, (k) =>
          k.selectFrom("slots").select("address").distinct(),
        );
        expect(slots).toEqual([{ address: "chat:test/room" }]);
        const denials = await readTables(t.databaseUrl, (k) =>
          k.selectFrom("denials").select(["address", "sender", "times"]).orderBy("address"),
        );
        expect(denials).toEqual([
          { address: "chat:test/eves-dm", sender: "eve", times: 1 },
          { address: "chat:test/room", sender: "eve", times: 5 },
          { address: "chat:test/room/t1", sender: "eve", times: 5 },
        ]);
        finish.open();
        await t.ended(asked.run ?? "");
        await t.say("after", { address: "chat:test/room", sender: "ada" });
        expect(JSON.stringify([await t.messages(), prompts, t.logs])).not.toContain("steer this");
        expect((await t.posts("chat:test/room"))[0]?.text).toBe("not steered");
      }
    },
  );

  scenario(
    ["SECU-1"],
    "a denied event that comes again is denied again, and allowed once the list allows it",
    async () => {
      const senders = ["ada"];
      const chat = recordingChannel({ kind: "chat", allow: { senders } });
      await using t = await gatewayOn(store, { agents: { echo }, channels: [chat] });
      for (let n = 0; n < 3; n += 1) {
        expect((await refusal(() => chat.receive("room", "hi", { sender: "bob", id: "e1" }))).code).toBe(
          "sender_not_allowed",
        );
      }
      senders.push("bob");
      await t.settled((await chat.receive("room", "hi", { sender: "bob", id: "e1" })).turn);
      expect(chat.posts().map(({ text }) => text)).toEqual(["You said: hi"]);
      const metrics = await (await t.fetch("/metrics")).text();
      expect(metrics).toMatch(/^waybill_messages_denied_total 3$/m);
    },
  );

  scenario(
    ["SECU-2"],
    "without the token, from a foreign page or under a foreign name nothing is served",
    async () => {
      const token = "a-token-of-the-operator-0123456789";
      await using t = await gatewayOn(store, { agents: { echo } }, { token });
      const post = (headers: Record<string, string>, host = "http://127.0.0.1") =>
        t.fetch(
          new Request(`${host}/v1/messages`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify({ conversation: "c", text: "hi" }),
          }),
        );
      const authorization = `Bearer ${token}`;
      expect(await problem(await post({}))).toEqual({ status: 401, code: "unauthorized" });
      expect(await problem(await post({ authorization: "Bearer wrong" }))).toEqual({
        status: 401,
        code: "unauthorized",
      });
      expect(await problem(await post({ authorization, origin: "https://evil.example" }))).toEqual({
        status: 403,
        code: "foreign_origin",
      });
      expect(
        await problem(await post({ authorization, host: "evil.example" }, "http://evil.example")),
      ).toEqual({
        status: 403,
        code: "foreign_host",
      });
      for (const path of [
        "/v1/runs",
        "/v1/messages?address=web:main/c",
        "/metrics",
        "/v1/status?address=web:main/c",
      ]) {
        expect(await problem(await t.fetch(path))).toEqual({ status: 401, code: "unauthorized" });
      }
      expect(await t.messages()).toEqual([]);
      expect((await t.fetch("/healthz")).status).toBe(200);
      const accepted = await post({ authorization });
      expect(accepted.status).toBe(202);
      await t.settled();
      expect((await t.posts()).map(({ text }) => text)).toEqual(["You said: hi"]);
      expect(await everything(t.databaseUrl, t.logs)).not.toContain(token);
    },
  );

  scenario(
    ["SECU-2"],
    "bodies and rates are limited, and bad input is refused with a code while it goes on serving",
    async () => {
      const limits = { bodyBytes: 2_000, requestsPerMinute: 30 };
      await using t = await gatewayOn(store, { agents: { echo }, limits });
      const send = (body: string, type = "application/json") =>
        t.fetch("/v1/messages", { method: "POST", headers: { "content-type": type }, body });
      const refused: [string, string, string?][] = [
        ["{", "invalid_json"],
        ["[]", "invalid_request"],
        ['{"conversation":"c"}', "invalid_request"],
        ['{"conversation":1,"text":"x"}', "invalid_request"],
        ['{"conversation":"c","text":"x","typo":1}', "invalid_request"],
        ['{"conversation":"c","text":"a\\u0000b"}', "invalid_request"],
        ['{"conversation":"c","text":"x","agent":"nobody"}', "unknown_agent"],
        [JSON.stringify({ conversation: "c", text: "x".repeat(3_000) }), "body_too_large"],
        ['{"conversation":"c","text":"x"}', "unsupported_media_type", "text/plain"],
      ];
      for (const [body, code, type] of refused) {
        expect({ body, code: (await problem(await send(body, type))).code }).toEqual({ body, code });
      }
      expect(await t.messages()).toEqual([]);
      expect((await send('{"conversation":"c","text":"still there?"}')).status).toBe(202);
      await t.settled();
      const statuses = [];
      for (let n = 0; n < 30; n += 1) statuses.push((await t.fetch("/v1/runs")).status);
      expect(statuses).toContain(429);
      const last = await t.fetch("/v1/runs");
      expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await problem(last)).toEqual({ status: 429, code: "rate_limited" });
      expect((await t.posts()).map(({ text }) => text)).toEqual(["You said: still there?"]);
    },
  );

  scenario(
    ["SECU-2"],
    "what an agent throws reaches people and logs without what looks like a secret",
    async () => {
      const key = "sk-live-0123456789abcdef";
      const leaky = agent.fn(async () => {
        throw new Error(`401 for https://user:hunter2@api.example with Bearer ${key} api_key=${key}`);
      });
      await using t = await gatewayOn(store, { agents: { leaky } });
      const said = await t.say("go");
      expect(said.text).toBe(`Something went wrong and I could not answer this. (run ${said.run})`);
      const failed = (await t.events(said.run ?? "")).find(({ kind }) => kind === "failed");
      expect(failed?.data?.["detail"]).toContain("401 for https://user:[secret]@api.example");
      const stored = await everything(t.databaseUrl, t.logs);
      expect(stored).not.toContain(key);
      expect(stored).not.toContain("hunter2");
    },
  );

  scenario(["SECU-2"], "what people write is not logged", async () => {
    await using t = await gatewayOn(store, { agents: { echo } });
    await t.say("the code word is swordfish");
    await t.say("status");
    expect(JSON.stringify(t.logs)).not.toContain("swordfish");
    expect(t.logs.length).toBeGreaterThan(3);
  });
});

scenario(
  ["SECU-2"],
  "a setting that cannot work is refused at the start, by name and with the nearest",
  async () => {
    const wrong: [object, string[]][] = [
      [{ agents: { echo }, chanels: [] }, ["chanels", "channels"]],
      [{ agents: {} }, ["agents"]],
      [{ agents: { echo }, routes: [{ in: "web:main/*", agent: "ecco" }] }, ["routes", "ecco", "echo"]],
      [{ agents: { echo }, routes: [{ in: "web", agent: "echo" }] }, ["routes", "web"]],
      [{ agents: { echo }, crossPost: [{ to: "news" }] }, ["crossPost", "news"]],
      [{ agents: { echo }, followUp: "stear" }, ["followUp", "steer"]],
      [{ agents: { echo }, limits: { run: { token: 5 } } }, ["limits.run", "token", "tokens"]],
      [{ agents: { echo }, memory: "all" }, ["memory"]],
      [{ agents: { echo: () => "no agent" } }, ["agents.echo", "agent.fn"]],
    ];
    for (const [config, names] of wrong) {
      const error: unknown = await testGateway(config as WaybillConfig).then(
        (t) => t.stop(),
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: "config_invalid" });
      for (const name of names) expect((error as Error).message).toContain(name);
    }
    expect((await refusal(async () => testGateway({ agents: { echo } }, { loopback: false }))).code).toBe(
      "token_required",
    );
    expect((await refusal(async () => testGateway({ agents: { echo } }, { key: "short" }))).code).toBe(
      "config_invalid",
    );
  },
);
