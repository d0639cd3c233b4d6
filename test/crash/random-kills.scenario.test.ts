/** Killed at moments that nobody chose. */
import { afterEach, beforeEach } from "vitest";
import { scenario } from "../spec/scenario.ts";
import { CrashWorld } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";
import { WebhookPeer } from "../support/webhook-peer.ts";
import { killAtRandom } from "./random-kills.ts";

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

  scenario(
    ["LEDG-2", "LEDG-13", "LEDG-14"],
    "forty messages in eight conversations survive six kills: each answered or reported once, in order",
    () => killAtRandom(world, { seed: 20_261, kills: 6, conversations: 8, messages: 5 }),
  );
});
