import type { Said } from "../support/crash-gateway.ts";

/**
 * What is said in a round. In `ann` the first run waits at a gate, so the others wait behind it and have not begun when
 * the process dies; `bob` has a job, and the agent of `repeat` may be executed again.
 */
export const talk: readonly (readonly Said[])[] = [
  said("ann", ["wait:never", "two", "three"]),
  said("bob", ["job:a", "five"]),
  said("repeat", ["six", "seven"]),
];

function said(conversation: string, texts: readonly string[]): Said[] {
  return texts.map((text, i) => ({ conversation, id: `${conversation}-${i}`, text }));
}
