/** The same for longer, each time with other moments; the seed of a failure stands in its name. */
import { describe, test } from "vitest";
import { CrashWorld } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";
import { WebhookPeer } from "../support/webhook-peer.ts";
import { killAtRandom } from "./random-kills.ts";

const first = Number(process.env["WAYBILL_TEST_SEED"] ?? Date.now() % 1_000_000_000);
const rounds = 4;

eachStore((store) => {
  for (const channel of ["web", "webhook"]) {
    describe(channel, () => {
      for (let seed = first; seed < first + rounds; seed += 1) {
        test(`WAYBILL_TEST_SEED=${seed}: 400 messages survive 20 kills`, async () => {
          const peer = channel === "webhook" ? await WebhookPeer.start() : null;
          const world = await CrashWorld.make(store, peer);
          try {
            await killAtRandom(world, { seed, kills: 20, conversations: 40, messages: 10 });
          } finally {
            await world.dispose();
            await peer?.stop();
          }
        });
      }
    });
  }
});
