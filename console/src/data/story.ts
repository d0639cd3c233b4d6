import { useQuery } from "@tanstack/react-query";
import type { Page, WireRunEvent, WireStory } from "../../../src/http/api.ts";
import { get } from "./api.ts";
import { hrefOf, placeParts } from "./place.ts";

const eventsOfStory = 500;

/** The story of anything that has an id. The feed marks it as stale. */
export function useStory(id: string) {
  return useQuery({ queryKey: ["story", id], queryFn: ({ signal }) => readStory(id, signal) });
}

export async function readStory(id: string, signal?: AbortSignal): Promise<WireStory> {
  const story = await get<WireStory>(`/v1/why/${encodeURIComponent(id)}`, {}, signal);
  const runs = await Promise.all(
    story.runs.map(async (run) => ({ ...run, events: await allEvents(run.id, run.events, signal) })),
  );
  return { ...story, runs };
}

/** A story tells the first 500 events of a run; what is after them is read on. */
async function allEvents(
  run: string,
  first: readonly WireRunEvent[],
  signal?: AbortSignal,
): Promise<WireRunEvent[]> {
  const events = [...first];
  while (events.length > 0 && events.length % eventsOfStory === 0) {
    const query = { limit: eventsOfStory, next: events.at(-1)!.seq };
    const page = await get<Page<WireRunEvent>>(`/v1/runs/${run}/events`, query, signal);
    events.push(...page.items);
    if (page.next === null) break;
  }
  return events;
}

/** Where the page of a story is: its run's, else its delivery's, else its conversation. Null: it has none. */
export function hrefOfStory(story: WireStory): string | null {
  const [delivery] = story.deliveries;
  if (story.found === "delivery" || story.found === "op") {
    const found = story.deliveries.find(
      (one) => one.id === story.id || one.ops.some((op) => op.id === story.id),
    );
    if (found) return `/deliveries/${found.id}`;
  }
  const run = story.runs.find((one) => one.id === story.id || one.stream === story.id) ?? story.runs[0];
  if (run) return `/runs/${run.id}`;
  if (delivery) return `/deliveries/${delivery.id}`;
  const [turn] = story.turns;
  return turn ? hrefOf(turn.address) : null;
}

/**
 * What somebody has pasted: a path of this console, or something to ask the gateway for (an id, a link to a post, an
 * address with a post). An address alone means its runs.
 */
export function readPasted(text: string): { href: string } | { ask: string } | null {
  const given = text.trim().replaceAll(/^["'`<(]+|[>"'`),.]+$/g, "");
  if (given === "") return null;
  if (URL.canParse(given)) {
    const url = new URL(given);
    if (url.origin === location.origin) return { href: `${url.pathname}${url.search}` };
    if (/^https?:$/.test(url.protocol)) return { ask: given };
  }
  const place = /^[a-z][a-z0-9-]*:[^\s#]+$/.test(given) ? placeParts(given) : null;
  if (place) return { href: `/runs?place=${encodeURIComponent(given)}` };
  // An id in the middle of a sentence, as a notice has it.
  const inside = /\s/.test(given) ? /\b[a-z]+_[0-9a-f]{8}-[0-9a-f-]{27}\b/.exec(given)?.[0] : undefined;
  return { ask: inside ?? given };
}
