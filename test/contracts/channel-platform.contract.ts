import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PeerAnswer } from "../support/webhook-peer.ts";
import { deliveriesOf, needing, untilDelivery } from "./channel.contract.ts";
import type { ChannelHarness, PlatformPeer } from "./channels.harness.ts";

let places = 0;
const place = (): string => `far ${(places += 1)}`;

/** What a channel must do whose platform can fail, and what one must do that finishes a post in place. */
export function platformContract(
  name: string,
  make: (options: { preview: boolean }) => Promise<ChannelHarness>,
): void {
  describe(`the channel ${name} and a platform that fails`, () => {
    let h: ChannelHarness;
    beforeAll(async () => {
      h = await make({ preview: false });
    });
    afterAll(() => h.close());
    failing(() => h);
  });
  describe(`the channel ${name} with previews`, () => {
    let h: ChannelHarness;
    beforeAll(async () => {
      h = await make({ preview: true });
    });
    afterAll(() => h.close());
    previews(() => h);
  });
}

type Failure = [name: string, answers: PeerAnswer[]];

/** After this it is known that nothing was done. */
const refusals: Failure[] = [["429 with Retry-After", [{ kind: "status", status: 429, retryAfter: "0" }]]];

/** After these nobody knows: the post is asked for, or sent again under its key. */
const doubts: Failure[] = [
  [
    "503 and 500",
    [
      { kind: "status", status: 503 },
      { kind: "status", status: 500 },
    ],
  ],
  ["a cut connection", [{ kind: "close" }]],
  ["nothing", [{ kind: "hang" }]],
  ["a cut connection after it has posted", [{ kind: "accept-close" }]],
  ["nothing after it has posted", [{ kind: "accept-hang" }]],
  ["success without a receipt", [{ kind: "accept-no-id" }]],
];

function failing(get: () => ChannelHarness): void {
  const needsPlatform = (
    title: string,
    body: (h: ChannelHarness, peer: PlatformPeer) => Promise<void>,
  ): void => needing(get, "platform", title, (h) => body(h, h.peer!));
  /** Where it cannot be found out what was posted, such an attempt is `unknown`. */
  const needsReconcile: typeof needsPlatform = (title, body) =>
    needing(get, ["platform", "reconcile"], title, (h) => body(h, h.peer!));

  for (const [name, answers] of [...refusals, ...doubts]) {
    const needs = doubts.some(([doubt]) => doubt === name) ? needsReconcile : needsPlatform;
    needs(
      `LEDG-14: answered with ${name}, there is one post and one receipt, and the order holds`,
      async (h, peer) => {
        await peer.once(...answers);
        const conversation = place();
        const asked = await h.say({ conversation, text: "one" });
        const next = await h.say({ conversation, text: "two" });
        await untilDelivery(h, next.body.run, "delivered");
        const posts = await h.posts(asked.body.address);
        expect(posts.map((post) => post.text)).toEqual(["You said: one", "You said: two"]);
        const [delivery] = await deliveriesOf(h, asked.body.run);
        expect(delivery).toMatchObject({ state: "delivered", receipts: [{ platformId: posts[0]?.id }] });
      },
    );
  }

  needsReconcile(
    "every attempt of an op has one idempotency key, and every request is signed",
    async (h, peer) => {
      await peer.once({ kind: "status", status: 500 }, { kind: "close" });
      const conversation = place();
      const asked = await h.say({ conversation, text: "hi" });
      await untilDelivery(h, asked.body.run, "delivered");
      await peer.sync();
      const mine = peer.attempts(conversation);
      expect(mine).toHaveLength(3);
      expect(mine[0]?.key).toBeTruthy();
      expect(new Set(mine.map(({ key }) => key)).size).toBe(1);
      expect(mine.every(({ signed }) => signed)).toBe(true);
    },
  );

  needsPlatform(
    "ADDR-9: where the conversation is gone the delivery is blocked with the reason, and posted nowhere else",
    async (h, peer) => {
      const conversation = place();
      const words = await peer.gone(conversation);
      await peer.sync();
      const before = peer.count();
      const asked = await h.say({ conversation, thread: "t", text: "hi" });
      const delivery = await untilDelivery(h, asked.body.run, "blocked");
      for (const word of words) expect(delivery.reason).toContain(word);
      expect(delivery.receipts).toEqual([]);
      await peer.sync();
      expect(peer.count()).toBe(before);
      const elsewhere = await h.say({ conversation: place(), text: "hi" });
      expect(await h.untilPosts(elsewhere.body.address, 1)).toHaveLength(1);
    },
  );

  needsPlatform("what the platform refuses is a dead letter that can be sent by hand", async (h, peer) => {
    const words = await peer.refuse();
    const asked = await h.say({ conversation: place(), text: "hi" });
    const delivery = await untilDelivery(h, asked.body.run, "dead");
    for (const word of words) expect(delivery.reason).toContain(word);
    await h.gateway.parts.control.retryDelivery(delivery.id);
    await untilDelivery(h, asked.body.run, "delivered");
    expect(await h.posts(asked.body.address)).toHaveLength(1);
  });

  needsPlatform(
    "LEDG-14: what cannot be settled is unknown and never sent again by itself",
    async (h, peer) => {
      await peer.mute(true);
      await peer.once({ kind: "accept-close" });
      const conversation = place();
      const asked = await h.say({ conversation, text: "one" });
      const delivery = await untilDelivery(h, asked.body.run, "unknown");
      expect(delivery.receipts).toEqual([]);
      const next = await h.say({ conversation, text: "two" });
      await untilDelivery(h, next.body.run, "delivered");
      await peer.sync();
      expect(peer.sends(delivery.id)).toBe(1);
      await peer.mute(false);
      await h.gateway.parts.control.retryDelivery(delivery.id);
      await untilDelivery(h, asked.body.run, "delivered");
      const texts = (await h.posts(asked.body.address)).map((post) => post.text);
      const again = peer.dedupes ? [] : ["You said: one"];
      expect(texts).toEqual(["You said: one", "You said: two", ...again]);
    },
  );

  needsPlatform(
    "a platform that is down for a while gets everything when it is back, once",
    async (h, peer) => {
      const conversation = place();
      await peer.kill();
      const asked = await h.say({ conversation, text: "hi" });
      expect(asked.status).toBe(202);
      await peer.restart();
      // With pauses of a test the attempts may have run out before the other program was back.
      const settled = await untilDelivery(h, asked.body.run, "delivered", "dead");
      if (settled.state === "dead") await h.gateway.parts.control.retryDelivery(settled.id);
      await untilDelivery(h, asked.body.run, "delivered");
      expect((await h.posts(asked.body.address)).map((post) => post.text)).toEqual(["You said: hi"]);
    },
  );
}

function previews(get: () => ChannelHarness): void {
  needing(get, "edit", "STRM-10: a preview and its answer are one post, edited in place", async (h) => {
    const conversation = place();
    const asked = await h.say({ conversation, text: "wait p1" });
    const [preview] = await h.untilPosts(asked.body.address, 1);
    expect(preview?.text).toContain("…");
    h.gates.open("p1");
    const delivery = await untilDelivery(h, asked.body.run, "delivered");
    const posts = await h.posts(asked.body.address);
    expect(posts).toEqual([{ id: preview?.id, text: "You said: wait p1" }]);
    expect(delivery.receipts.map((receipt) => receipt.platformId)).toEqual([preview?.id]);
  });

  needing(get, "edit", "STRM-10: a long answer finishes the preview and goes on below it", async (h) => {
    const asked = await h.say({ conversation: place(), text: "long" });
    const delivery = await untilDelivery(h, asked.body.run, "delivered");
    const posts = await h.posts(asked.body.address);
    expect(posts.length).toBeGreaterThan(3);
    expect(posts.map((post) => post.text).join("")).not.toContain("…");
    expect(delivery.receipts.map((receipt) => receipt.platformId)).toEqual(posts.map((post) => post.id));
  });

  needing(get, "edit", "a run that fails turns its preview into the notice", async (h) => {
    const asked = await h.say({ conversation: place(), text: "fail p2" });
    const [preview] = await h.untilPosts(asked.body.address, 1);
    h.gates.open("p2");
    await untilDelivery(h, asked.body.run, "delivered");
    const posts = await h.posts(asked.body.address);
    expect(posts).toMatchObject([{ id: preview?.id }]);
    expect(posts[0]?.text).toContain(asked.body.run!);
  });

  needing(get, "edit", "LEDG-17: a run that is stopped takes its preview away", async (h) => {
    const conversation = place();
    const asked = await h.say({ conversation, text: "wait p3" });
    await h.untilPosts(asked.body.address, 1);
    await h.say({ conversation, text: "stop" });
    await untilDelivery(h, asked.body.run, "withdrawn");
    const posts = await h.posts(asked.body.address);
    expect(posts.map((post) => post.text)).toEqual(["Stopped 1 run."]);
  });

  needing(get, "edit", "an agent that stays silent leaves no preview behind", async (h) => {
    const asked = await h.say({ conversation: place(), text: "silent" });
    await untilDelivery(h, asked.body.run, "withdrawn");
    expect(await h.posts(asked.body.address)).toEqual([]);
  });

  test("the harness says what the channel can", () => {
    const h = get();
    expect(h.gateway.parts.channels.all.some(({ sender }) => sender.can.preview)).toBe(
      h.lacks.edit === undefined,
    );
  });
}
