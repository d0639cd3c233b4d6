/** Where something goes that belongs to no turn, and who was turned away. */
import { expect } from "vitest";
import { agent } from "../../src/index.ts";
import type {
  Page,
  WireDelivery,
  WireDenial,
  WireRefusal,
  WireSchedule,
  WireSlot,
} from "../../src/http/api.ts";
import { recordingChannel, type RecordingChannel, type TestGateway } from "../../src/test-kit/index.ts";
import { eachStore } from "../support/stores.ts";
import { waybill } from "./command.ts";
import { scenario } from "./scenario.ts";
import { gate, gatewayOn, refusal } from "./support.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

async function get<T>(t: TestGateway, path: string): Promise<T> {
  return (await (await t.fetch(path)).json()) as T;
}

interface Sent {
  code?: string;
  address?: string;
  delivery?: string;
  rule?: string;
}

/** A send of the operator's own; what it came to, without what differs each time. */
async function send(t: TestGateway, body: Record<string, string>): Promise<Sent> {
  const answer = await t.fetch("/v1/sends", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "from nobody's turn", ...body }),
  });
  const { code, address, delivery } = (await answer.json()) as Sent;
  if (delivery === undefined) return { code, address };
  await t.settled();
  const { rule } = await get<WireDelivery>(t, `/v1/deliveries/${delivery}`);
  return { address, rule };
}

async function slots(t: TestGateway): Promise<string[]> {
  const { items } = await get<Page<WireSlot>>(t, "/v1/slots");
  return items.map(({ account, slot, address }) => `${account} ${slot} ${address}`);
}

async function clear(t: TestGateway, account: string, slot: string): Promise<unknown> {
  const path = `/v1/slots/${encodeURIComponent(account)}/${slot}`;
  return (await t.fetch(path, { method: "DELETE" })).json();
}

async function said(t: TestGateway, chat: RecordingChannel, place: string, text: string, sender = "ada") {
  await t.settled((await chat.receive(place, text, { kind: "channel", sender })).turn);
}

eachStore((store) => {
  scenario(
    ["ADDR-2", "ADDR-5"],
    "outside turns a slot serves where it is asked for, each for itself, also after a restart",
    async () => {
      const chat = recordingChannel({ kind: "chat", allow: { senders: ["ada", "bob"] } });
      const config = { agents: { echo }, channels: [chat], lastActive: true };
      await using t = await gatewayOn(store, config);
      const account = "chat:test";
      const [active, seen] = [
        { to: "last-active", account },
        { to: "latest-seen", account },
      ];
      expect(await send(t, active)).toMatchObject({ code: "no_destination" });

      await said(t, chat, "lab", "a question");
      await said(t, chat, "lobby", "help", "bob");
      await expect(chat.receive("outside", "me too", { sender: "mallory" })).rejects.toMatchObject({
        code: "sender_not_allowed",
      });
      await t.restart();

      expect(await slots(t)).toEqual([
        "chat:test last-active chat:test/lab",
        "chat:test latest-seen chat:test/lobby",
      ]);
      expect(await send(t, active)).toEqual({ address: "chat:test/lab", rule: "last-active" });
      expect(await send(t, seen)).toEqual({ address: "chat:test/lobby", rule: "latest-seen" });
      expect(await send(t, { ...active, to: "chat:test/hall" })).toMatchObject({ code: "invalid_request" });
      expect(await send(t, { to: "chat:test/hall" })).toEqual({
        address: "chat:test/hall",
        rule: "explicit",
      });
      expect(await send(t, { to: "last-active" })).toMatchObject({ code: "invalid_request" });
      // Another account has slots of its own.
      expect(await send(t, { ...active, account: "web:main" })).toMatchObject({ code: "no_destination" });

      // What we post ourselves moves neither. A slot that is cleared is no candidate, and hides no other.
      expect(await clear(t, account, "last-active")).toMatchObject({ address: "chat:test/lab" });
      expect(await send(t, active)).toEqual({ address: "chat:test/lobby", rule: "latest-seen" });
      await said(t, chat, "lab", "another question");
      await clear(t, account, "latest-seen");
      expect(await send(t, active)).toEqual({ address: "chat:test/lab", rule: "last-active" });
      expect(await send(t, seen)).toMatchObject({ code: "no_destination" });
    },
  );

  scenario(
    ["ADDR-2", "ADDR-5"],
    "a slot whose place is not allowed any more is an error that names it, and the next one does not serve",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      await using t = await gatewayOn(store, { agents: { echo }, channels: [chat], lastActive: true });
      const account = "chat:test";
      await said(t, chat, "lab", "a question");
      await said(t, chat, "lobby", "help");
      const before = chat.posts().length;
      chat.forbid("chat:test/lab");

      expect(await send(t, { to: "last-active", account })).toEqual({
        code: "destination_not_allowed",
        address: "chat:test/lab",
      });
      expect(chat.posts()).toHaveLength(before);
      expect(await send(t, { to: "latest-seen", account })).toMatchObject({ address: "chat:test/lobby" });
      // The operator revokes it: then the other one serves.
      await clear(t, account, "last-active");
      expect(await send(t, { to: "last-active", account })).toMatchObject({ address: "chat:test/lobby" });
    },
  );

  scenario(["ADDR-5"], "switched off, no slot is kept or asked, and none serves a run", async () => {
    const chat = recordingChannel({ kind: "chat" });
    const asks = agent.fn(async (ctx) => {
      const tried = [];
      for (const to of ["last-active", "latest-seen"]) {
        tried.push((await refusal(() => ctx.send(to, "to whom?"))).code);
      }
      return tried.join(" ");
    });
    await using t = await gatewayOn(store, { agents: { asks }, channels: [chat] });
    await said(t, chat, "lab", "a question");
    expect(await slots(t)).toEqual([]);
    expect(await send(t, { to: "last-active", account: "chat:test" })).toMatchObject({
      code: "no_destination",
    });
    expect(chat.posts().map(({ text }) => text)).toEqual(["invalid_address invalid_address"]);
    const [run] = await t.runs();
    expect(await send(t, { to: "last-active", account: "chat:test", run: run?.id ?? "" })).toMatchObject({
      code: "invalid_request",
    });
    expect(chat.posts()).toHaveLength(1);
  });

  scenario(
    ["ADDR-1", "ADDR-5"],
    "from inside a turn the slots are out of reach, whoever speaks elsewhere, and after a refusal too",
    async () => {
      const chat = recordingChannel({ kind: "chat" });
      const [asked, moved] = [gate(), gate()];
      const worker = agent.fn(async (ctx) => {
        if (ctx.text !== "a private question") return "heard";
        asked.open();
        await moved.opened;
        await refusal(() => ctx.send("chat:test/lobby", "elsewhere"));
        await ctx.send(undefined, "sent without a target");
        await ctx.remind({ in: 3_600_000, text: "later" });
        return "answered";
      });
      await using t = await gatewayOn(store, { agents: { worker }, channels: [chat], lastActive: true });
      const { turn } = await chat.receive("ada", "a private question", { kind: "dm" });
      await asked.opened;
      await said(t, chat, "lobby", "hello", "bob");
      await t.until("the slot to move", async () => (await slots(t))[0]?.endsWith("chat:test/lobby"));
      moved.open();
      await t.settled(turn);
      expect(chat.posts("chat:test/ada").map(({ text }) => text)).toEqual([
        "sent without a target",
        "answered",
      ]);
      expect(chat.posts("chat:test/lobby").map(({ text }) => text)).toEqual(["heard"]);
      const { items } = await get<Page<WireSchedule>>(t, "/v1/schedules");
      expect(items.map(({ to }) => to)).toEqual(["chat:test/ada"]);
    },
  );

  scenario(
    ["SECU-1"],
    "who was turned away is listed with the id and name to copy, and leaves no other trace",
    async () => {
      const chat = recordingChannel({ kind: "chat", allow: { senders: ["ada"] } });
      await using t = await gatewayOn(store, { agents: { echo }, channels: [chat], lastActive: true });
      const knock = (sender: string, name: string | null) =>
        t.post("stop", { address: "chat:test/lab", sender: { id: sender, name } }).then(
          () => "let in",
          (error: { code: string }) => error.code,
        );
      await said(t, chat, "lab", "a question");
      const before = { slots: await slots(t), messages: (await t.messages()).length };
      expect(await knock("U-eve", "Eve")).toBe("sender_not_allowed");
      expect(await knock("U-mallory", null)).toBe("sender_not_allowed");
      expect(await knock("U-eve", "Eve")).toBe("sender_not_allowed");

      expect(await t.runs()).toHaveLength(1);
      expect({ slots: await slots(t), messages: (await t.messages()).length }).toEqual(before);
      const all = await get<Page<WireDenial>>(t, "/v1/denials");
      expect(all.items.map(({ sender, name, times }) => [sender, name, times]).toSorted(byText)).toEqual([
        ["U-eve", "Eve", 2],
        ["U-mallory", null, 1],
      ]);
      expect(all.items[0]).toMatchObject({
        address: "chat:test/lab",
        reason: "the sender is not on the allowlist",
      });
      const first = await get<Page<WireDenial>>(t, "/v1/denials?limit=1");
      const second = await get<Page<WireDenial>>(t, `/v1/denials?limit=1&next=${first.next}`);
      expect([...first.items, ...second.items]).toEqual(all.items);
      expect(second.next).toBeNull();

      await t.stop();
      const env = { WAYBILL_DATABASE_URL: t.databaseUrl, COLUMNS: "200" };
      const told = await waybill(["denials", "list"], { env });
      expect(told.code).toBe(0);
      expect(told.stdout).toMatch(/U-eve +Eve +2 /);
    },
  );

  scenario(
    ["ADDR-10"],
    "sends that the rules refused are listed over all runs, the newest first",
    async () => {
      const wanderer = agent.fn(async (ctx) => {
        for (const to of ["web:main/forbidden", "nowhere"]) await refusal(() => ctx.send(to, "no"));
        return "done";
      });
      await using t = await gatewayOn(store, { agents: { wanderer } });
      const { run } = await t.say("go", { conversation: "room", kind: "channel" });
      const { items } = await get<Page<WireRefusal>>(t, "/v1/refusals");
      expect(items).toMatchObject([
        {
          run,
          agent: "wanderer",
          rule: "explicit",
          address: "nowhere",
          reason: "invalid_address",
          use: null,
        },
        { run, address: "web:main/forbidden", reason: "cross_post_not_allowed", use: "web:main/room" },
      ]);
      const first = await get<Page<WireRefusal>>(t, "/v1/refusals?limit=1");
      const second = await get<Page<WireRefusal>>(t, `/v1/refusals?limit=1&next=${first.next}`);
      expect([...first.items, ...second.items]).toEqual(items);
    },
  );
});

const byText = (a: unknown, b: unknown): number => String(a).localeCompare(String(b));
