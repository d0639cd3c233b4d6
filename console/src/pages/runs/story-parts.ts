import type { WireDelivery, WireMessage, WireRun, WireStory, WireTurn } from "../../../../src/http/api.ts";

export type StoryRun = WireStory["runs"][number];

export function turnOf(story: WireStory, run: WireRun): WireTurn | undefined {
  return story.turns.find((turn) => turn.id === run.turn);
}

/** The message that a run answers. */
export function questionOf(story: WireStory, run: WireRun): WireMessage | null {
  return turnOf(story, run)?.message ?? null;
}

export function deliveriesOf(story: WireStory, run: WireRun): WireDelivery[] {
  return story.deliveries.filter((delivery) => delivery.run === run.id);
}

/** The delivery that carries a run's answer, or the notice in its place. */
export function answerOf(story: WireStory, run: WireRun): WireDelivery | undefined {
  const own = deliveriesOf(story, run);
  return (
    own.findLast((delivery) => delivery.kind === "final") ??
    own.findLast((delivery) => delivery.kind === "notice") ??
    own.at(-1)
  );
}

export function textOf(data: Record<string, unknown> | null, name: string): string | null {
  const value = data?.[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}
