/** Channels: what they take, what they acknowledge, where they post. The other program is a second process. */
import { expect } from "vitest";
import { parseAddress } from "../../src/address/address.ts";
import { webhook } from "../../src/channels/webhook/index.ts";
import { agent } from "../../src/index.ts";
import { type SpecGateway, gate, gatewayOn, readTables } from "./support.ts";
import { eachStore } from "../support/stores.ts";
import { type PeerMessage, WebhookPeer } from "../support/webhook-peer.ts";
import { scenario } from "./scenario.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);
const base = "http://127.0.0.1";

/** A peer that goes away at the end of the block. */
async function startPeer() {
  const peer = await WebhookPeer.start();
  return Object.assign(peer, { [Symbol.asyncDispose]: () => peer.stop() });
}

async function say(t: SpecGateway, peer: WebhookPeer, message: PeerMessage) {
  const answer = await t.fetch(peer.message(base, message));
  const body = (await answer.json()) as { turn: string; run: string; address: string; code?: string };
  return { status: answer.status, body };
}

eachStore((store) => {
  const all = { senders: "*", conversations: "*" } as const;

  scenario(
    ["CHAN-1", "ADDR-9"],
    "on every channel an answer lands at the root or in the thread where it was asked, and comes with a receipt",
    async () => {
      await using peer = await startPeer();
      const channels = [webhook({ url: peer.url, secret: peer.secret, allow: all })];
      await using t = await gatewayOn(store, { agents: { echo }, channels });
      const places: [PeerMessage["conversation"], string | undefined][] = [
        [{ id: "ann", kind: "dm" }, undefined],
        [{ id: "general room/äöü %", kind: "channel" }, undefined],
        [{ id: "general room/äöü %", kind: "channel" }, "1700.55/x"],
      ];
      for (const [conversation, thread] of places) {
        const { status, body } = await say(t, peer, { conversation, thread, text: "hi" });
        expect(status).toBe(202);
        expect(parseAddress(body.address)).toEqual({
          channel: "webhook",
          account: "main",
          conversation: conversation.id,
          thread: thread ?? null,
        });
        await t.settled(body.turn);
        await peer.sync();
        expect(peer.texts(conversation.id, thread ?? null)).toEqual(["You said: hi"]);
        const [delivery] = await t.deliveries({ turn: body.turn });
        const [post] = peer.posts(conversation.id, thread ?? null);
        expect(delivery).toMatchObject({ state: "delivered", receipts: [{ platformId: post?.id }] });
        const web = await t.say("hi", { conversation: conversation.id, thread, kind: "dm" });
        expect((await t.posts(web.address)).map(({ text }) => text)).toEqual(["You said: hi"]);
      }
      expect(peer.posts()).toHaveLength(places.length);
    },
  );

  scenario(
    ["CHAN-1", "LEDG-14"],
    "a platform that asks to wait is waited for, and its own posts are no messages",
    async () => {
      await using peer = await startPeer();
      const channels = [
        webhook({ url: peer.url, secret: peer.secret, allow: all, self: "bot", preview: true }),
      ];
      await using t = await gatewayOn(store, { agents: { echo }, channels });
      await peer.once("POST", { kind: "status", status: 429, retryAfter: "0" }, { kind: "accept-close" });
      const { body } = await say(t, peer, { conversation: { id: "room" }, text: "hi" });
      await t.settled(body.turn);
      await peer.sync();
      expect(peer.posts("room")).toMatchObject([{ text: "You said: hi" }]);
      for (const sender of [{ id: "bot" }, { id: "other", bot: true }]) {
        const own = await t.fetch(
          peer.message(base, { conversation: { id: "room" }, sender, text: "You said: hi" }),
        );
        expect(own.status).toBeLessThan(300);
      }
      await t.settled();
      expect(await t.runs()).toHaveLength(1);
      expect((await t.messages()).filter(({ role }) => role === "user")).toHaveLength(1);
    },
  );

  scenario(
    ["CHAN-2", "LEDG-13"],
    "an event is acknowledged when it is committed, not before, and again when it comes again",
    async () => {
      await using peer = await startPeer();
      const working = gate();
      const hang = agent.fn(() => (working.open(), new Promise<string>(() => {})));
      const channels = [webhook({ url: peer.url, secret: peer.secret, allow: all })];
      await using t = await gatewayOn(store, { agents: { hang }, channels });
      const message = { id: "e1", conversation: { id: "room" }, text: "hi" };
      const first = await say(t, peer, message);
      // The acknowledgement does not wait for the agent, and what it names is in the store.
      const stored = await readTables(t.databaseUrl, (k) =>
        k
          .selectFrom("runs")
          .innerJoin("turns", "turns.id", "runs.turn_id")
          .select(["runs.id", "turns.address"]),
      );
      expect(first.status).toBe(202);
      expect(stored).toEqual([{ id: first.body.run, address: first.body.address }]);
      await working.opened;
      const again = await say(t, peer, message);
      expect(again).toMatchObject({ status: 202, body: { turn: first.body.turn, run: first.body.run } });
      expect(await t.runs()).toHaveLength(1);
      // What cannot be committed is not acknowledged, so that the platform sends it again.
      const gateway = await t.gateway();
      await gateway.stop({ graceMs: 0 });
      const late = await gateway.fetch(peer.message(base, { conversation: { id: "room" }, text: "late" }));
      expect(late.status).toBe(503);
      await t.restart();
      expect((await t.messages()).filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
        "hi",
      ]);
    },
  );

  scenario(
    ["SECU-2", "SECU-1"],
    "a webhook takes only what is signed, fresh and from somebody on its list",
    async () => {
      await using peer = await startPeer();
      const allow = { senders: ["u1"], conversations: ["room"] };
      const channels = [webhook({ url: peer.url, secret: peer.secret, allow })];
      await using t = await gatewayOn(store, { agents: { echo }, channels });
      const good: PeerMessage = { conversation: { id: "room" }, text: "hi" };
      const signed = () => peer.message(base, good);
      const tampered = async () => {
        const request = signed();
        const body = (await request.text()).replace("hi", "ho");
        return new Request(request.url, { method: "POST", headers: request.headers, body });
      };
      const without = (header: string) => {
        const request = signed();
        request.headers.delete(header);
        return request;
      };
      const refused: [Request, number, string][] = [
        [await tampered(), 401, "invalid_signature"],
        [without("x-waybill-signature"), 401, "invalid_signature"],
        [without("x-waybill-timestamp"), 401, "invalid_signature"],
        [
          peer.message(base, good, { timestamp: Math.floor(Date.now() / 1_000) - 3_600 }),
          401,
          "invalid_signature",
        ],
        [peer.message(base, { ...good, sender: { id: "eve" } }), 403, "sender_not_allowed"],
        [peer.message(base, { ...good, conversation: { id: "elsewhere" } }), 403, "sender_not_allowed"],
      ];
      for (const [request, status, code] of refused) {
        const answer = await t.fetch(request);
        expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
      }
      expect(await t.messages()).toEqual([]);
      const { body } = await say(t, peer, good);
      await t.settled(body.turn);
      await peer.sync();
      expect(peer.texts()).toEqual(["You said: hi"]);
      expect(peer.requests.every((request) => request.signed)).toBe(true);
      expect(JSON.stringify([t.logs, await t.messages(), await t.deliveries()])).not.toContain(peer.secret);
    },
  );

  scenario(
    ["CHAN-4"],
    "files of a webhook message reach the agent, and what was left out is told",
    async () => {
      await using peer = await startPeer();
      const seen: unknown[] = [];
      const viewer = agent.fn(async (ctx) => {
        seen.push(...ctx.message.parts);
        return "seen";
      });
      const channels = [webhook({ url: peer.url, secret: peer.secret, allow: all })];
      await using t = await gatewayOn(store, { agents: { viewer }, channels });
      const files = [
        { url: "https://files.example/a.png", mediaType: "image/png", name: "a.png" },
        { url: "file:///etc/passwd", mediaType: "text/plain", name: "passwd" },
      ];
      const { body } = await say(t, peer, { conversation: { id: "room" }, text: "look", files });
      await t.settled(body.turn);
      await peer.sync();
      expect(seen).toEqual([
        { type: "text", text: "look" },
        expect.objectContaining({ type: "file", mediaType: "image/png", url: "https://files.example/a.png" }),
      ]);
      expect(peer.texts("room").some((text) => text.includes("passwd"))).toBe(true);
      expect(peer.texts("room").at(-1)).toBe("seen");
    },
  );
});
