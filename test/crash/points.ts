import { expect } from "vitest";
import type { CrashPlan, CrashPoint } from "../../src/kernel/crash-points.ts";
import type { CrashWorld } from "../support/crash-gateway.ts";
import { CrashRound } from "../support/crash-round.ts";
import { talk } from "./talk.ts";

/**
 * People talk to a process that dies at a point, or to several that die one after the other; the next one, which has no
 * plan, brings all of it to its end. @returns the points at which a process was really killed
 */
export async function dieAt(world: CrashWorld, plans: readonly CrashPlan[]): Promise<CrashPoint[]> {
  const round = new CrashRound(world, talk);
  const visited: CrashPoint[] = [];
  for (const crash of plans) {
    const doomed = await world.start({ crash });
    await round.speak(doomed);
    expect(await doomed.exited, `the process with the plan ${crash.point}`).toEqual({
      code: null,
      signal: "SIGKILL",
    });
    visited.push(crash.point);
    await round.noteCrash();
    await world.endLeases();
  }
  const last = await world.start();
  last.open("never");
  await round.speak(last);
  await round.speakAgain(last);
  await round.settled(last);
  await round.verify(last);
  // What was sent and not noted is looked up there, and not sent again.
  expect(round.repeatedPosts(), "posts that came to the other program again").toBe(0);
  last.signal("SIGTERM");
  expect(await last.exited).toEqual({ code: 0, signal: null });
  return visited;
}

/** The plans that lead to a death at each point; to recover something, something must have been left first. */
export const plansFor: Readonly<Record<CrashPoint, readonly CrashPlan[]>> = {
  "accept:before-commit": [{ point: "accept:before-commit", nth: 4 }],
  "accept:after-commit": [{ point: "accept:after-commit", nth: 4 }],
  "claim:before-commit": [{ point: "claim:before-commit", nth: 2 }],
  "claim:after-commit": [{ point: "claim:after-commit", nth: 2 }],
  "run:before-finish": [{ point: "run:before-finish", nth: 2 }],
  "finish:before-commit": [{ point: "finish:before-commit", nth: 2 }],
  "finish:after-commit": [{ point: "finish:after-commit", nth: 2 }],
  "stream:before-close": [{ point: "stream:before-close", nth: 2 }],
  "send:claimed": [{ point: "send:claimed", nth: 2 }],
  "send:before-request": [{ point: "send:before-request", nth: 2 }],
  "send:after-request": [{ point: "send:after-request", nth: 2 }],
  "receipt:before-commit": [{ point: "receipt:before-commit", nth: 2 }],
  "receipt:after-commit": [{ point: "receipt:after-commit", nth: 2 }],
  "reap:before-commit": [
    { point: "run:before-finish", nth: 2 },
    { point: "reap:before-commit", nth: 1 },
  ],
  "reap:after-commit": [
    { point: "run:before-finish", nth: 2 },
    { point: "reap:after-commit", nth: 1 },
  ],
};

/** Points that only an op reaches, and the web channel has none. */
export const opPoints: readonly CrashPoint[] = [
  "send:claimed",
  "send:before-request",
  "send:after-request",
  "receipt:before-commit",
  "receipt:after-commit",
];
