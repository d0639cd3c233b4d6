import { z } from "zod";
import { nulRule } from "../body.ts";
import { localeOf } from "../context.ts";
import type { WireRunEvent, WireStory } from "../api.ts";
import { findStory, type Story } from "../find-story.ts";
import type { HttpPorts } from "../ports.ts";
import { json, route, type Routes } from "../route.ts";
import { sayStory } from "../say-story.ts";
import { iso, toWireDelivery, toWireMessage, toWireRun } from "../wire.ts";
import { readEvents } from "./runs.ts";

/** Events of a run that its story tells. */
const eventsMost = 500;

/** Why did it go there? Any id leads to its story. */
export function whyRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/why/{id}",
      // A link or an address has slashes of its own.
      pattern: "/v1/why/:id{.+}",
      summary:
        "The story of any id, link to a post, or address#post: who asked, what ran, where it was posted and why.",
      params: z.object({
        id: z
          .string()
          .max(2_000, "has at most 2000 characters")
          .refine((id) => !id.includes("\0"), nulRule),
      }),
      answers: { 200: { description: "The story." } },
      errors: ["not_found"],
    },
    async (c, { params }) => {
      const story = await findStory(ports, params.id);
      const lists = await Promise.all(story.runs.map((run) => readEvents(ports, run.id, 0, eventsMost)));
      const eventsOf = new Map(story.runs.map((run, i) => [run.id, lists[i] ?? []]));
      return json(c, 200, toWireStory(params.id, story, eventsOf, localeOf(c, ports.locale)));
    },
  );
}

function toWireStory(
  id: string,
  story: Story,
  eventsOf: ReadonlyMap<string, WireRunEvent[]>,
  locale: Parameters<typeof toWireMessage>[1],
): WireStory {
  const messages = story.messages.map((message) => toWireMessage(message, locale));
  return {
    id,
    found: story.found,
    turns: story.turns.map((turn) => ({
      id: turn.id,
      kind: turn.kind,
      address: turn.address,
      message: messages.find((message) => message.id === turn.message) ?? null,
      sender: turn.sender,
      causedBy: turn.causedBy,
      createdAt: iso(turn.createdAt),
    })),
    runs: story.runs.map((run) => ({ ...toWireRun(run), events: eventsOf.get(run.id) ?? [] })),
    deliveries: story.deliveries.map(toWireDelivery),
    messages,
    text: sayStory(story, eventsOf),
  };
}
