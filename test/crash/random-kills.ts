import { expect } from "vitest";
import type { CrashWorld, Said } from "../support/crash-gateway.ts";
import { CrashRound } from "../support/crash-round.ts";

/** Numbers from 0 to 1 that a seed fixes (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Many conversations go on while processes are killed, one after the other, each after a number of changes that the
 * seed gives. What the last one leaves is held against what was said.
 */
export async function killAtRandom(
  world: CrashWorld,
  {
    seed,
    kills,
    conversations,
    messages,
  }: { seed: number; kills: number; conversations: number; messages: number },
): Promise<void> {
  const random = chance(seed);
  const lanes = Array.from({ length: conversations }, (_, lane) =>
    Array.from({ length: messages }, (_, i): Said => {
      // One lane has an agent that may be executed again, and now and then somebody asks for a job.
      const conversation = lane === 0 ? "repeat" : `lane${lane}`;
      return {
        conversation,
        id: `${conversation}-${i}`,
        text: random() < 0.15 ? `job:${i}` : `text ${lane} ${i}`,
      };
    }),
  );
  const round = new CrashRound(world, lanes);
  for (let n = 0; n < kills; n += 1) {
    const doomed = await world.start();
    const speaking = round.speak(doomed);
    let left = 1 + Math.floor(random() * 20);
    const enough = doomed.until(() => (left -= 1) < 0);
    await Promise.race([enough, speaking.then(() => round.settled(doomed))]);
    expect(await doomed.kill()).toEqual({ code: null, signal: "SIGKILL" });
    await speaking;
    await round.noteCrash();
    await world.endLeases();
  }
  const last = await world.start();
  await round.speak(last);
  await round.speakAgain(last);
  await round.settled(last);
  await round.verify(last);
}
