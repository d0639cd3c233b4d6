/** The web channel: a process is killed at every named point between a message and the end of its answer. */
import { describe, expect, test } from "vitest";
import { crashPoints, type CrashPoint } from "../../src/kernel/crash-points.ts";
import { scenario } from "../spec/scenario.ts";
import { CrashWorld } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";
import { dieAt, opPoints, plansFor } from "./points.ts";

const points = crashPoints.filter((point) => !opPoints.includes(point));

eachStore((store) => {
  const visited = new Set<CrashPoint>();

  for (const point of points) {
    describe(`killed at ${point}`, () => {
      scenario(
        ["LEDG-2", "LEDG-13", "STRM-10"],
        "what was accepted is answered or, if it was claimed, reported once; what had not begun is answered in order",
        async () => {
          const world = await CrashWorld.make(store, null);
          try {
            for (const one of await dieAt(world, plansFor[point])) visited.add(one);
          } finally {
            await world.dispose();
          }
        },
      );
    });
  }

  test("a process was killed at every point there is, but those of ops", () => {
    expect([...visited].toSorted()).toEqual([...points].toSorted());
  });
});
