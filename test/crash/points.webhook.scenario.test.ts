/** The webhook channel, with the other program as a process: killed at every named point up to the stored receipt. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { crashPoints, type CrashPoint } from "../../src/kernel/crash-points.ts";
import { scenario } from "../spec/scenario.ts";
import { CrashWorld } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";
import { WebhookPeer } from "../support/webhook-peer.ts";
import { dieAt, plansFor } from "./points.ts";

eachStore((store) => {
  const visited = new Set<CrashPoint>();
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

  for (const point of crashPoints) {
    describe(`killed at ${point}`, () => {
      scenario(
        ["ADDR-9", "LEDG-2", "LEDG-13", "LEDG-14"],
        "the other program has each answer or notice once, in order, where it was asked",
        async () => {
          for (const one of await dieAt(world, plansFor[point])) visited.add(one);
        },
      );
    });
  }

  test("a process was killed at every point there is", () => {
    expect([...visited].toSorted()).toEqual([...crashPoints].toSorted());
  });
});
