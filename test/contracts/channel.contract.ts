import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAddress } from "../../src/address/address.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import type { TestStore } from "../support/stores.ts";
import {
  longAnswer,
  readJson,
  untilChanged,
  type Capability,
  type ChannelHarness,
  type WireDelivery,
} from "./channels.harness.ts";

export type Store = TestStore;

let places = 0;
/** A conversation of the test's own; ids of platforms are not tidy. */
const place = (): string => `room ${(places += 1)}/50% 대화`;

/** What every channel must do, on each store. What one lacks is said with its reason, and proven. */
export function channelContract(name: string, make: () => Promise<ChannelHarness>): void {
  describe(`the channel ${name}`, () => {
    let h: ChannelHarness;
    beforeAll(async () => {
      h = await make();
    });
    afterAll(() => h.close());
    const get = (): ChannelHarness => h;
    answering(get);
    comingIn(get);
    acknowledging(get);
  });
}

/** A test that needs capabilities; where the channel lacks one, its lack is proven instead. */
export function needing(
  get: () => ChannelHarness,
  capability: Capability | readonly Capability[],
  title: string,
  body: (h: ChannelHarness) => Promise<void>,
): void {
  test(title, async ({ annotate }) => {
    const h = get();
    const lack = [capability]
      .flat()
      .map((one) => h.lacks[one as Capability])
      .find(Boolean);
    if (!lack) return body(h);
    await annotate(`not here: ${lack.reason}`);
    expect(lack.reason).not.toBe("");
    await lack.proof(h.gateway);
  });
}

export async function deliveriesOf(h: ChannelHarness, run: string | null): Promise<WireDelivery[]> {
  const { items } = await readJson<{ items: WireDelivery[] }>(h.gateway, `/v1/deliveries?run=${run}`);
  return items;
}

/** Resolves with the run's delivery that is in one of these states. */
export async function untilDelivery(
  h: ChannelHarness,
  run: string | null,
  ...states: string[]
): Promise<WireDelivery> {
  let found: WireDelivery | undefined;
  await untilChanged(h.gateway, async () => {
    found = (await deliveriesOf(h, run)).find((one) => states.includes(one.state));
    return found !== undefined;
  });
  return found!;
}

function answering(get: () => ChannelHarness): void {
  test("CHAN-1 ADDR-12: an answer lands in the place of its question, whatever the ids look like", async () => {
    const h = get();
    const conversation = place();
    const asked = await h.say({ conversation, text: "hi" });
    expect(asked.status).toBe(202);
    expect(asked.body.address).toBe(h.address(conversation));
    const id = h.idOf?.(conversation) ?? conversation;
    expect(parseAddress(asked.body.address)).toMatchObject({ conversation: id, thread: null });
    expect((await h.untilPosts(asked.body.address, 1)).map((post) => post.text)).toEqual(["You said: hi"]);
    const delivery = await untilDelivery(h, asked.body.run, "delivered");
    expect(delivery).toMatchObject({ address: asked.body.address, rule: "turn" });
  });

  test("CHAN-1 ADDR-9: top level, threads and other conversations at once: each answer is where it was asked", async () => {
    const h = get();
    const conversation = place();
    const other = place();
    const where = [
      { conversation, key: `k${places}a` },
      { conversation, thread: "t 1", key: `k${places}b` },
      { conversation, thread: "t/2", key: `k${places}c` },
      { conversation: other, kind: "channel" as const, key: `k${places}d` },
      { conversation: other, thread: "t 1", kind: "channel" as const, key: `k${places}e` },
    ];
    const asked = [];
    for (const { key, ...at } of where) asked.push(await h.say({ ...at, text: `wait ${key}` }));
    await Promise.all(where.map(({ key }) => h.gates.started(key)));
    for (const { key } of where.toReversed()) h.gates.open(key);
    for (const [n, { key }] of where.entries()) {
      await untilDelivery(h, asked[n]!.body.run, "delivered");
      const posts = await h.posts(asked[n]!.body.address);
      expect(posts.map((post) => post.text)).toEqual([`You said: wait ${key}`]);
    }
  });

  test("what is said on the way comes before the answer", async () => {
    const h = get();
    const asked = await h.say({ conversation: place(), text: "say" });
    const posts = await h.untilPosts(asked.body.address, 2);
    expect(posts.map((post) => post.text)).toEqual(["first this", "then that"]);
  });

  test("CHAN-4: an agent may finish without posting", async () => {
    const h = get();
    const conversation = place();
    await h.say({ conversation, text: "silent" });
    const { address } = (await h.say({ conversation, text: "hi" })).body;
    expect((await h.untilPosts(address, 1)).map((post) => post.text)).toEqual(["You said: hi"]);
  });

  test("LEDG-14: a long answer is whole and in order, with the receipt of each of its posts", async () => {
    const h = get();
    const asked = await h.say({ conversation: place(), text: "long" });
    const delivery = await untilDelivery(h, asked.body.run, "delivered");
    const posts = await h.posts(asked.body.address);
    expect(posts.map((post) => post.text).join("")).toBe(longAnswer);
    expect(delivery.receipts.map((receipt) => receipt.platformId)).toEqual(posts.map((post) => post.id));
  });

  needing(get, "pieces", "LEDG-14: a long answer is split at the platform's limit", async (h) => {
    const asked = await h.say({ conversation: place(), text: "long" });
    await untilDelivery(h, asked.body.run, "delivered");
    const posts = await h.posts(asked.body.address);
    expect(posts.length).toBeGreaterThan(3);
    for (const post of posts.slice(0, -1)) expect(post.text.endsWith("\n")).toBe(true);
  });
}

function comingIn(get: () => ChannelHarness): void {
  test("CHAN-1: our own posts are no messages", async () => {
    const h = get();
    const { address } = (await h.say({ conversation: place(), text: "hi" })).body;
    const [post] = await h.untilPosts(address, 1);
    await h.echo(address, post!);
    const turns = await h.gateway.parts.db.query((k) =>
      k.selectFrom("turns").select("id").where("address", "=", address),
    );
    expect(turns).toHaveLength(1);
  });

  test("LEDG-13: the same message again gets the same answer and makes nothing twice", async () => {
    const h = get();
    const message = { conversation: place(), text: "hi", id: "same" };
    const asked = await h.say(message);
    await h.untilPosts(asked.body.address, 1);
    const again = await Promise.all([h.say(message), h.say(message), h.say(message)]);
    for (const one of again) {
      const { turn, run, address } = asked.body;
      expect(one.body).toMatchObject({ turn, run, address });
      expect(one.status).toBe(asked.status);
    }
    // In the same place nothing overtakes: with this answer there, one more of the first would have come too.
    await h.say({ conversation: message.conversation, text: "next" });
    const posts = await h.untilPosts(asked.body.address, 2);
    expect(posts.map((post) => post.text)).toEqual(["You said: hi", "You said: next"]);
  });

  test("LEDG-13: many first sightings at once are one message; the same id elsewhere is another", async () => {
    const h = get();
    const message = { conversation: place(), text: "hi", id: "same" };
    const all = await Promise.all(Array.from({ length: 8 }, () => h.say(message)));
    expect(new Set(all.map((one) => one.body.run)).size).toBe(1);
    const elsewhere = await h.say({ ...message, conversation: place() });
    expect(elsewhere.body.run).not.toBe(all[0]?.body.run);
    expect(await h.untilPosts(elsewhere.body.address, 1)).toHaveLength(1);
  });

  test("the same id with another content is a conflict", async () => {
    const h = get();
    const message = { conversation: place(), text: "hi", id: "same" };
    await h.say(message);
    const other = await h.say({ ...message, text: "something else" });
    expect([other.status, other.body.code]).toEqual([409, "idempotency_conflict"]);
  });

  needing(get, "files", "CHAN-4: a file that a person sends reaches the agent", async (h) => {
    const file = { url: "data:text/plain;base64,aGk=", mediaType: "text/plain", filename: "hi.txt" };
    const asked = await h.say({ conversation: place(), text: "files", files: [file] });
    const [post] = await h.untilPosts(asked.body.address, 1);
    expect(JSON.parse(post!.text)).toEqual([{ type: "file", ...file }]);
  });

  test("LEDG-17: a reserved word is answered at once, where it was said", async () => {
    const h = get();
    const conversation = place();
    const asked = await h.say({ conversation, thread: "t", text: " Status " });
    expect(asked.body.run).toBeNull();
    expect(await h.untilPosts(h.address(conversation, "t"), 1)).toHaveLength(1);
    expect(await h.posts(h.address(conversation))).toEqual([]);
  });

  needing(
    get,
    "allow",
    "SECU-1: who is not allowed gets 403 and leaves one denial record, and nothing else",
    async (h) => {
      const conversation = place();
      const refused = await h.say({ conversation, text: "stop", sender: "stranger" });
      expect([refused.status, refused.body.code]).toEqual([403, "sender_not_allowed"]);
      const { db } = h.gateway.parts;
      const address = h.address(conversation);
      const denials = await db.query((k) =>
        k.selectFrom("denials").selectAll().where("address", "=", address),
      );
      const sender = h.idOf?.("stranger") ?? "stranger";
      expect(denials).toMatchObject([{ sender, times: 1, reason: h.denial }]);
      for (const table of ["turns", "messages", "conversations"] as const) {
        const rows = await db.query((k) =>
          k.selectFrom(table).select("address").where("address", "=", address),
        );
        expect(rows).toEqual([]);
      }
    },
  );
}

function acknowledging(get: () => ChannelHarness): void {
  test("CHAN-2: a message is acknowledged after its commit", async () => {
    const h = get();
    const { db } = h.gateway.parts;
    const order: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let entered = (): void => {};
    const isEntered = new Promise<void>((resolve) => (entered = resolve));
    const original = db.do.bind(db);
    let first = true;
    db.do = async (command, input) => {
      if (command.name !== "turns.accept-message" || !first) return original(command, input);
      first = false;
      entered();
      await held;
      const answer = await original(command, input);
      order.push("committed");
      return answer;
    };
    try {
      const asked = h.say({ conversation: place(), text: "hi" }).then((said) => {
        order.push("acknowledged");
        return said;
      });
      await isEntered;
      // Meanwhile another message goes all the way: there was time enough to acknowledge too early.
      const other = await h.say({ conversation: place(), text: "other" });
      await h.untilPosts(other.body.address, 1);
      release();
      const { body } = await asked;
      expect(order).toEqual(["committed", "acknowledged"]);
      const turns = await db.query((k) =>
        k.selectFrom("turns").select("address").where("id", "=", body.turn),
      );
      expect(turns).toEqual([{ address: body.address }]);
    } finally {
      db.do = original;
    }
  });

  test("CHAN-2: what could not be committed is not acknowledged; sent again, it is answered once", async () => {
    const h = get();
    const { db } = h.gateway.parts;
    const original = db.do.bind(db);
    db.do = (command, input) =>
      command.name === "turns.accept-message"
        ? Promise.reject(new WaybillError("store_unavailable", "The store is away."))
        : original(command, input);
    const message = { conversation: place(), text: "hi", id: "again" };
    const refused = await h.say(message).finally(() => {
      db.do = original;
    });
    expect([refused.status, refused.body.code]).toEqual([503, "store_unavailable"]);
    const asked = await h.say(message);
    expect(asked.status).toBe(202);
    expect(await h.untilPosts(asked.body.address, 1)).toHaveLength(1);
  });
}
