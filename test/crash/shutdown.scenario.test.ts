/** SIGTERM: what can end in time ends, what cannot is reported, and the process leaves with 0. */
import { afterEach, beforeEach, expect } from "vitest";
import { scenario } from "../spec/scenario.ts";
import { CrashWorld, type CrashProcess, type Said } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";
import { WebhookPeer } from "../support/webhook-peer.ts";

eachStore((store) => {
  let world: CrashWorld;
  let peer: WebhookPeer;
  beforeEach(async () => {
    peer = await WebhookPeer.start();
    world = await CrashWorld.make(store, peer);
  });
  afterEach(async () => {
    await world.dispose();
    await peer.stop();
  });

  const runs = () =>
    world.look((k) =>
      k
        .selectFrom("runs")
        .select(["state", "reason", "attempts", "lane"])
        .orderBy("lane")
        .orderBy("lane_seq"),
    );

  /** Says it and resolves when its agent waits at the gate. */
  async function begin(process: CrashProcess, conversation: string, gate: string): Promise<void> {
    const said: Said = { conversation, id: `${conversation}-1`, text: `wait:${gate}` };
    expect(await world.say(process, said)).not.toBeNull();
    await process.until(() => process.waiting.has(gate));
  }

  scenario(["LEDG-8"], "a run that ends within the grace is answered, and nothing new is taken", async () => {
    const process = await world.start({ graceMs: 60_000 });
    await begin(process, "ann", "soon");
    process.signal("SIGTERM");
    await process.until(() => process.isStopping);
    const late = world.say(process, { conversation: "bob", id: "bob-1", text: "hello" });
    await expect(late).rejects.toThrow("503");
    process.open("soon");
    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(await runs()).toMatchObject([{ state: "completed", attempts: 1 }]);
    expect(peer.texts("ann")).toEqual(["answer to wait:soon"]);
    expect(peer.texts("bob")).toEqual([]);
  });

  scenario(
    ["LEDG-8"],
    "a run that goes on longer is interrupted with one notice in its own place",
    async () => {
      const process = await world.start({ graceMs: 50 });
      await begin(process, "ann", "never");
      // Behind it, and not begun: it is no business of the shutdown's.
      await world.say(process, { conversation: "ann", id: "ann-2", text: "next" });
      process.signal("SIGTERM");
      expect(await process.exited).toEqual({ code: 0, signal: null });
      expect(await runs()).toMatchObject([
        { state: "interrupted", reason: "shutdown" },
        { state: "queued", attempts: 0 },
      ]);
      await peer.sync();
      expect(peer.posts("ann")).toHaveLength(1);

      const next = await world.start();
      await peer.until(() => peer.texts("ann").includes("answer to next"));
      next.signal("SIGTERM");
      expect(await next.exited).toEqual({ code: 0, signal: null });
      await peer.sync();
      expect(peer.posts("ann")).toHaveLength(2);
      expect(world.executions().map((one) => one.text)).toEqual(["wait:never", "next"]);
    },
  );
});
