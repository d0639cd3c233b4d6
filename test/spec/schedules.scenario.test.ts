/** What comes by the clock goes where it was told to, once; what has no whole place is held and shown. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import type { Page, WireDelivery, WireSchedule } from "../../src/http/api.ts";
import { manualClock, type ManualClock } from "../../src/kernel/clock.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import { recordingChannel, testGateway, type TestGateway } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gatewayOn, refusal, told } from "./support.ts";

const start = Date.UTC(2026, 2, 2, 8, 0); // a Monday
const minutes = (n: number): number => n * 60_000;
const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
const base: WaybillConfig = { agents: { echo } };

const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1);

async function call<T>(t: TestGateway, method: string, path: string, body?: unknown) {
  const headers = body === undefined ? undefined : { "content-type": "application/json" };
  const answer = await t.fetch(path, {
    method,
    ...(headers ? { headers, body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as T & { code?: string; detail?: string } };
}

async function scheduleOf(t: TestGateway, id: string): Promise<WireSchedule> {
  return (await call<WireSchedule>(t, "GET", `/v1/schedules/${id}`)).body;
}

async function deliveriesIn(t: TestGateway, state: string): Promise<WireDelivery[]> {
  return (await call<Page<WireDelivery>>(t, "GET", `/v1/deliveries?state=${state}`)).body.items;
}

/** Time goes on, and the schedule has come by then. */
async function comes(t: TestGateway, clock: ManualClock, id: string, ms: number): Promise<WireSchedule> {
  const before = (await scheduleOf(t, id)).lastAt;
  clock.advance(ms);
  const fired = await t.until(`the schedule ${id} to come`, async () => {
    const now = await scheduleOf(t, id);
    return now.lastAt !== before && now;
  });
  await t.settled();
  return fired;
}

eachStore((store) => {
  scenario(
    ["ADDR-11", "ADDR-10"],
    "a heartbeat asks its agent at its own destination, and another posts its text there",
    async () => {
      const clock = manualClock(start);
      const seen: string[] = [];
      const worker = agent.fn(async (ctx) => {
        seen.push(`${ctx.address} ${ctx.sender.id}`);
        return `checked: ${ctx.text}`;
      });
      const schedules = [
        { id: "check", cron: "*/30 * * * *", to: "web:main/ops", agent: "worker", text: "look at the queue" },
        { id: "lunch", cron: "0 12 * * *", timeZone: "Asia/Seoul", to: "web:main/team", text: "Lunch!" },
      ];
      await using t = await gatewayOn(store, { agents: { echo, worker }, schedules }, { clock });
      await t.say("hello", { conversation: "elsewhere", kind: "channel" });
      expect(await scheduleOf(t, "lunch")).toMatchObject({
        state: "active",
        source: "settings",
        nextAt: "2026-03-03T03:00:00.000Z",
        lastAt: null,
        incomplete: null,
      });

      const fired = await comes(t, clock, "check", minutes(30));

      expect(told(await t.posts("web:main/ops"))).toEqual([["web:main/ops", "checked: look at the queue"]]);
      expect(seen).toEqual(["web:main/ops schedule:check"]);
      const run = await t.run(fired.lastRun ?? "");
      expect(run).toMatchObject({
        origin: "web:main/ops",
        replyTo: "web:main/ops",
        postedIn: "web:main/ops",
      });
      expect(run.streamRoot).toBe(run.stream);
      const story = await t.why(run.id);
      expect(story.turns).toMatchObject([{ kind: "schedule", causedBy: "check", address: "web:main/ops" }]);
      expect(fired).toMatchObject({ nextAt: "2026-03-02T09:00:00.000Z", lastAt: "2026-03-02T08:30:00.000Z" });

      clock.advance(minutes(30));
      const lunch = await comes(t, clock, "lunch", minutes(18 * 60));
      expect(told(await t.posts("web:main/team"))).toEqual([["web:main/team", "Lunch!"]]);
      const [delivery] = await t.deliveries({ id: lunch.lastDelivery ?? "" });
      expect(delivery).toMatchObject({ kind: "schedule", rule: "configured", run: null, state: "delivered" });
      const why = await t.why(delivery?.id ?? "");
      expect(why.text.join("\n")).toContain("the schedule lunch names it");
      expect(await t.posts("web:main/elsewhere")).toHaveLength(1);
    },
  );

  scenario(
    ["ADDR-11"],
    "what was missed while nothing ran comes once, and what the settings leave out comes no more",
    async () => {
      const clock = manualClock(start);
      const schedules = [{ id: "tick", cron: "* * * * *", to: "web:main/ops", text: "tick" }];
      const config: WaybillConfig = { ...base, schedules };
      await using t = await gatewayOn(store, config, { clock });
      await comes(t, clock, "tick", minutes(1));
      // Stopped for an hour: time passes while it does not run.
      const gateway = await t.gateway();
      await gateway.stop({ graceMs: 0 });
      clock.advance(minutes(60));
      await t.restart();
      await t.until("the missed one", async () => (await t.posts("web:main/ops")).length > 1);
      expect(told(await t.posts("web:main/ops")).map(([, text]) => text)).toEqual(["tick", "tick"]);
      const after = await scheduleOf(t, "tick");
      expect(Date.parse(after.nextAt ?? "")).toBeGreaterThan(clock.now());
      expect(Date.parse(after.nextAt ?? "") - clock.now()).toBeLessThanOrEqual(minutes(1));

      Object.assign(config, { schedules: [] });
      await t.restart();
      expect(await scheduleOf(t, "tick")).toMatchObject({ state: "removed", nextAt: null });
      clock.advance(minutes(10));
      Object.assign(config, { schedules: [{ ...schedules[0], cron: "0 * * * *" }] });
      await t.restart();
      expect(await scheduleOf(t, "tick")).toMatchObject({ state: "active", cron: "0 * * * *" });
      expect(await t.posts("web:main/ops")).toHaveLength(2);
    },
  );

  scenario(
    ["ADDR-11"],
    "an incomplete destination is held and shown, and goes nowhere until an operator completes it",
    async () => {
      const clock = manualClock(start);
      const chat = recordingChannel({ kind: "chat" });
      const every = "0 * * * *";
      const schedules = [
        { id: "nowhere", cron: every, text: "to whom?" },
        { id: "account-only", cron: every, to: "chat:test", text: "no conversation" },
        { id: "no-channel", cron: every, to: "slack:T1/C1", text: "no channel" },
        { id: "off", cron: every, to: "last-active", account: "chat:test", text: "slots are off" },
        { id: "asks", cron: every, text: "what is new?", agent: "echo" },
      ];
      await using t = await gatewayOn(store, { ...base, channels: [chat], schedules }, { clock });
      await t.settled((await chat.receive("room", "hello", { kind: "channel" })).turn);
      const before = chat.posts().length;
      for (const { id } of schedules)
        expect((await scheduleOf(t, id)).incomplete).toEqual(expect.any(String));

      await comes(t, clock, "asks", minutes(60));
      await t.until("all to be held", async () => (await deliveriesIn(t, "held")).length === 5);
      clock.advance(minutes(60));
      await t.until("the second round", async () => {
        const all = await Promise.all(schedules.map(({ id }) => scheduleOf(t, id)));
        return all.every(({ lastAt }) => lastAt === "2026-03-02T10:00:00.000Z");
      });

      const held = await deliveriesIn(t, "held");
      expect(held.map(({ schedule, reason }) => [schedule, reason]).toSorted(byText)).toEqual([
        ["account-only", "chat:test names no conversation"],
        ["asks", "no destination is set"],
        ["no-channel", "no channel slack is configured"],
        ["nowhere", "no destination is set"],
        ["off", "the slot last-active is switched off: set lastActive: true, or name an address"],
      ]);
      expect(chat.posts()).toHaveLength(before);
      expect(await t.runs()).toHaveLength(1);

      const retry = (schedule: string, body?: unknown) =>
        call<{ state: string }>(
          t,
          "POST",
          `/v1/deliveries/${held.find((one) => one.schedule === schedule)?.id}/retry`,
          body,
        );
      expect((await retry("nowhere")).body).toMatchObject({ code: "no_destination" });
      expect((await retry("nowhere", { to: "not an address" })).body.code).toBe("invalid_address");
      expect((await retry("nowhere", { to: "slack:T1/C1" })).body.code).toBe("destination_not_allowed");
      expect((await retry("nowhere", { to: "chat:test/ops" })).body.state).toBe("pending");
      expect((await retry("asks", { to: "chat:test/ops" })).body.state).toBe("withdrawn");
      await t.settled();
      await t.until("both posts", async () => chat.posts("chat:test/ops").length === 2);
      expect(
        chat
          .posts("chat:test/ops")
          .map(({ text }) => text)
          .toSorted(byText),
      ).toEqual(["You said: what is new?", "to whom?"]);
      expect((await retry("nowhere", { to: "chat:test/ops" })).status).toBeGreaterThanOrEqual(400);
      expect(chat.posts()).toHaveLength(before + 2);
      expect((await deliveriesIn(t, "held")).map(({ schedule }) => schedule).toSorted(byText)).toEqual([
        "account-only",
        "no-channel",
        "off",
      ]);
    },
  );

  scenario(["ADDR-11"], "a reminder comes once, where it was asked for, also after a restart", async () => {
    const clock = manualClock(start);
    const chat = recordingChannel({ kind: "chat" });
    const forgetful = agent.fn(async (ctx) => {
      const { schedule } = await ctx.remind({ in: minutes(20), text: `remember ${ctx.text}` });
      return schedule;
    });
    await using t = await gatewayOn(store, { agents: { forgetful }, channels: [chat] }, { clock });
    const { turn } = await chat.receive("ada", "the milk", { kind: "dm", thread: "t1" });
    await t.settled(turn);
    await t.settled((await chat.receive("lobby", "the bread", { kind: "channel" })).turn);
    const [asked] = await t.messages("chat:test/ada/t1").then((all) => all.slice(-1));
    expect(await scheduleOf(t, asked?.text ?? "")).toMatchObject({
      source: "agent",
      to: "chat:test/ada/t1",
      cron: null,
      nextAt: "2026-03-02T08:20:00.000Z",
    });
    await t.restart();
    const done = await comes(t, clock, asked?.text ?? "", minutes(20));
    await t.until("the post", async () => chat.posts("chat:test/ada/t1").length === 2);
    expect(done).toMatchObject({ state: "done", nextAt: null });
    expect(chat.posts("chat:test/ada/t1").map(({ text }) => text)).toEqual([
      asked?.text,
      "remember the milk",
    ]);
    await t.restart();
    clock.advance(minutes(60));
    await t.settled();
    expect(chat.posts("chat:test/ada/t1")).toHaveLength(2);
  });

  scenario(["ADDR-11", "ADDR-2"], "of many nodes that find it due, one fires it", async () => {
    const clock = manualClock(start);
    const schedules = Array.from({ length: 8 }, (_, n) => ({
      id: `s${n}`,
      cron: "* * * * *",
      to: `web:main/ops${n}`,
      ...(n % 2 === 0 ? {} : { agent: "echo" }),
      text: "tick",
    }));
    const config: WaybillConfig = { ...base, schedules };
    await using t = await gatewayOn(store, config, { clock });
    // SQLite has one process a store; there the same look may come twice at once.
    const others = store.name === "postgres" ? [1, 2] : [];
    const nodes: TestGateway[] = [t];
    try {
      for (const _ of others) nodes.push(await testGateway(config, { databaseUrl: t.databaseUrl, clock }));
      for (let round = 1; round <= 3; round += 1) {
        clock.advance(minutes(1));
        await t.until(`round ${round}`, async () => (await t.posts()).length === round * schedules.length);
        await t.settled();
      }
      const perPlace = Map.groupBy(await t.posts(), ({ address }) => address);
      expect([...perPlace.values()].map((posts) => posts.length)).toEqual(schedules.map(() => 3));
      expect(await t.runs()).toHaveLength(12);
    } finally {
      for (const node of nodes.slice(1)) await node.stop();
    }
  });

  scenario(
    ["ADDR-11", "ADDR-5"],
    "a heartbeat to a slot goes where somebody spoke last, and a refused place blocks it there",
    async () => {
      const clock = manualClock(start);
      const chat = recordingChannel({ kind: "chat" });
      const schedules = [
        { id: "beat", cron: "0 * * * *", to: "last-active", account: "chat:test", text: "still here" },
      ];
      const config = { ...base, channels: [chat], schedules, lastActive: true };
      await using t = await gatewayOn(store, config, { clock });
      const held = await comes(t, clock, "beat", minutes(60));
      expect(await t.deliveries({ id: held.lastDelivery ?? "" })).toMatchObject([
        { state: "held", address: "" },
      ]);

      await t.settled((await chat.receive("lab", "hello", { kind: "channel" })).turn);
      const fired = await comes(t, clock, "beat", minutes(60));
      await t.until("the beat", async () => chat.posts("chat:test/lab").length === 2);
      expect(await t.deliveries({ id: fired.lastDelivery ?? "" })).toMatchObject([
        { state: "delivered", rule: "last-active", address: "chat:test/lab" },
      ]);

      await t.settled((await chat.receive("lobby", "help", { kind: "channel" })).turn);
      chat.forbid("chat:test/lab");
      const refused = await comes(t, clock, "beat", minutes(60));
      const [blocked] = await t.deliveries({ id: refused.lastDelivery ?? "" });
      const reason = "the operator has closed this place";
      expect(blocked).toMatchObject({
        state: "blocked",
        address: "chat:test/lab",
        reason: `chat:test/lab may not be posted to: ${reason}`,
        rejected: [{ rule: "last-active", address: "chat:test/lab", reason }],
      });
      expect(chat.posts("chat:test/lab")).toHaveLength(2);
      expect(chat.posts("chat:test/lobby")).toHaveLength(1);
    },
  );

  scenario(
    ["ADDR-11"],
    "operators add, disable, complete and remove; what cannot work is refused",
    async () => {
      const clock = manualClock(start);
      const schedules = [{ id: "fixed", cron: "0 * * * *", to: "web:main/ops", text: "tick" }];
      await using t = await gatewayOn(store, { ...base, schedules }, { clock });
      const add = (body: Record<string, unknown>) =>
        call<WireSchedule & { issues?: { field: string }[] }>(t, "POST", "/v1/schedules", body);
      const change = (id: string, body: Record<string, unknown>) =>
        call<WireSchedule>(t, "PATCH", `/v1/schedules/${id}`, body);
      const text = "say it";
      for (const [body, field] of [
        [{ cron: "nope", text }, "cron"],
        [{ cron: "0 0 31 2 *", text }, "cron"],
        [{ cron: "0 9 * * *", timeZone: "Mars/Olympus", text }, "timeZone"],
        [{ cron: "0 9 * * *", to: "no such place", text }, "to"],
        [{ cron: "0 9 * * *", to: "last-active", text }, "account"],
        [{ cron: "0 9 * * *", agent: "nobody", text }, "agent"],
        [{ cron: "0 9 * * *", id: "No!", text }, "id"],
        [{ at: "2026-03-01T08:00:00Z", text }, "at"],
        [{ text }, "cron"],
        [{ cron: "0 9 * * *", at: "2026-03-03T08:00:00Z", text }, "cron"],
        [{ cron: "0 9 * * *", text: " " }, "text"],
      ] as const) {
        const { status, body: answer } = await add(body);
        expect({ body, status, code: answer.code, field: answer.issues?.[0]?.field }).toEqual({
          body,
          status: 400,
          code: "invalid_request",
          field,
        });
      }
      const once = { id: "once", inMs: minutes(5), text };
      expect((await add({ ...once, inMs: undefined, at: "2026-03-02T08:05:00Z" })).status).toBe(201);
      expect((await add({ id: "once", at: "2026-03-02T08:05:00Z", text })).body.id).toBe("once");
      expect((await add({ id: "once", at: "2026-03-02T08:05:00Z", text: "else" })).status).toBe(409);

      const held = await comes(t, clock, "once", minutes(5));
      expect(held.state).toBe("done");
      expect(await deliveriesIn(t, "held")).toHaveLength(1);
      // Completing the schedule lets go what it holds, even though it will not come again.
      expect((await change("once", { to: "web:main/team" })).status).toBe(200);
      expect(told(await t.posts("web:main/team"))).toEqual([["web:main/team", text]]);
      expect(await deliveriesIn(t, "held")).toEqual([]);

      expect((await change("fixed", { text: "tock" })).body.code).toBe("invalid_request");
      expect((await change("fixed", { state: "disabled" })).body).toMatchObject({
        state: "disabled",
        nextAt: null,
      });
      await t.restart();
      clock.advance(minutes(120));
      expect((await change("fixed", { state: "active" })).body.nextAt).toBe("2026-03-02T11:00:00.000Z");
      expect(await t.posts("web:main/ops")).toEqual([]);
      expect((await call(t, "DELETE", "/v1/schedules/fixed")).body.code).toBe("invalid_request");
      expect((await call(t, "DELETE", "/v1/schedules/once")).status).toBe(200);
      expect((await call(t, "GET", "/v1/schedules/once")).body.code).toBe("unknown_schedule");
    },
  );

  scenario(
    ["ADDR-7", "ADDR-11"],
    "a reminder leaves its conversation only by the rule that its run would have needed, then and now",
    async () => {
      const clock = manualClock(start);
      const codes: string[] = [];
      const planner = agent.fn(async (ctx) => {
        for (const to of ["web:main/news", "web:main/other"]) {
          const { code } = await refusal(() => ctx.remind({ in: minutes(5), text: "psst", to }));
          codes.push(code);
        }
        codes.push((await refusal(() => ctx.remind({ in: -1, text: "late" }))).code);
        codes.push((await refusal(() => ctx.remind({ text: "when?" }))).code);
        return "planned";
      });
      const crossPost = [{ from: "web:main/ada", to: "web:main/news" }];
      const config: WaybillConfig = { agents: { planner }, crossPost };
      await using t = await gatewayOn(store, config, { clock });
      await t.say("hello", { conversation: "ada", kind: "dm" });
      expect(codes).toEqual([
        "nothing was refused",
        "cross_post_not_allowed",
        "invalid_request",
        "invalid_request",
      ]);
      Object.assign(config, { crossPost: [] });
      await t.restart();
      clock.advance(minutes(5));
      const [blocked] = await t.until("the reminder to be refused", async () => {
        const found = await deliveriesIn(t, "blocked");
        return found.length > 0 && found;
      });
      expect(blocked).toMatchObject({
        address: "web:main/news",
        rejected: [{ rule: "configured", address: "web:main/news", reason: "cross_post_not_allowed" }],
      });
      expect(await t.posts("web:main/news")).toEqual([]);
    },
  );
});
