import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eachStore, type FreshStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import { RunningGateway } from "../gateway/create-gateway.ts";
import type { MessagePart } from "../ledger/run.ts";
import type { IncomingMessage } from "./incoming.ts";

eachStore((store) => {
  let fresh: FreshStore;
  let dataDir: string;
  let gateway: RunningGateway;
  const seen: MessagePart[][] = [];

  beforeEach(async () => {
    seen.length = 0;
    fresh = await store.fresh();
    dataDir = await mkdtemp(path.join(tmpdir(), "waybill-left-out-"));
    const see = agent.fn(async (ctx) => {
      seen.push([...ctx.message.parts]);
      return "seen";
    });
    const options = { dataDir, databaseUrl: fresh.databaseUrl };
    gateway = new RunningGateway({ agents: { see }, locale: "en" }, options);
    await gateway.start();
  });
  afterEach(async () => {
    await gateway.stop(0);
    await fresh.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });

  const message = (text: string, leftOut: IncomingMessage["leftOut"]): IncomingMessage => ({
    place: { address: "web:main/c", parent: null, channel: "web", account: "main", kind: "dm" },
    id: "m1",
    sender: { id: "u", name: null },
    principal: null,
    text,
    parts: text === "" ? [] : [{ type: "text", text }],
    leftOut,
  });

  async function posts() {
    const rows = await gateway.parts.db.query((k) =>
      k.selectFrom("messages").select(["role", "text", "notice_key", "turn_id"]).orderBy("post_seq"),
    );
    return rows;
  }

  /** Resolves when the place has so many posts; a hint of the feed says when to look. */
  async function untilPosts(count: number) {
    for (;;) {
      const hint = new Promise<void>((resolve) => {
        const leave = gateway.parts.feed.subscribe(null, () => {
          leave();
          resolve();
        });
      });
      const now = await posts();
      if (now.length >= count) return now;
      await hint;
    }
  }

  test("CHAN-4: the person is told in the same commit what was left out and why; the agent gets the rest", async () => {
    const given = message("look at these", [
      { name: "a.exe", reason: "parts.reason.type", values: { type: "application/x-msdownload" } },
      { name: "b.exe", reason: "parts.reason.type", values: { type: "application/x-msdownload" } },
      { name: "c.png", reason: "parts.reason.unreadable" },
    ]);
    const accepted = await gateway.parts.inbox.accept(given);
    const told = (await posts()).slice(0, 3);
    expect(told.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: look at these",
      "assistant: The file a.exe, b.exe was left out. Reason: files of the type application/x-msdownload are not accepted here",
      "assistant: The file c.png was left out. Reason: it could not be read",
    ]);
    expect(told.map((post) => post.turn_id)).toEqual(Array.from({ length: 3 }, () => accepted.turn));
    expect(told[1]?.notice_key).toBe("parts.left_out");
    expect((await untilPosts(4))[3]?.text).toBe("seen");
    expect(seen).toEqual([[{ type: "text", text: "look at these" }]]);
  });

  test("CHAN-4: where nothing remains the person is told and no run is made; again, the same answer", async () => {
    const given = message("", [{ name: "c.png", reason: "parts.reason.unreadable" }]);
    const accepted = await gateway.parts.inbox.accept(given);
    expect(accepted).toMatchObject({ outcome: "replied", run: null, stream: null, repeated: false });
    const again = await gateway.parts.inbox.accept(given);
    expect(again).toEqual({ ...accepted, repeated: true });
    expect(await posts()).toHaveLength(2);
    expect(await gateway.parts.db.query((k) => k.selectFrom("runs").select("id"))).toEqual([]);
  });

  test("CHAN-4: a reserved word with a file is still the word, and the file is told of", async () => {
    const given = message("status", [{ name: "c.png", reason: "parts.reason.unreadable" }]);
    expect(await gateway.parts.inbox.accept(given)).toMatchObject({ outcome: "replied", run: null });
    expect((await posts()).map((post) => post.text)).toEqual([
      "status",
      "The file c.png was left out. Reason: it could not be read",
      "There is no record of a run in this conversation.",
    ]);
  });
});
