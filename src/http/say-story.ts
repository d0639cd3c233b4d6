import type { DeliveryRecord } from "../deliveries/read-deliveries.ts";
import type { MessageRecord } from "../deliveries/read-messages.ts";
import type { RunRecord } from "../ledger/read-runs.ts";
import type { TurnRecord } from "../turns/read-turns.ts";
import type { WireRunEvent } from "./api.ts";
import type { Story } from "./find-story.ts";
import { sayWhy } from "./say-why.ts";
import { iso } from "./wire.ts";

/** A story in sentences for operators, in English: who asked what where, what ran, and where it was posted and why. */
export function sayStory(story: Story, eventsOf: ReadonlyMap<string, readonly WireRunEvent[]>): string[] {
  const said: string[] = [];
  const messages = new Map(story.messages.map((message) => [message.id, message]));
  for (const turn of story.turns) {
    said.push(sayTurn(turn, turn.message === null ? undefined : messages.get(turn.message)));
    const runs = story.runs.filter((run) => run.turn === turn.id);
    for (const run of runs) said.push(...sayRunStory(run, eventsOf.get(run.id) ?? []));
    const ids = new Set(runs.map((run) => run.id));
    for (const delivery of story.deliveries) {
      const belongs = delivery.run === null ? delivery.turn === turn.id : ids.has(delivery.run);
      if (belongs) said.push(sayDelivery(delivery));
    }
  }
  const turnIds = new Set(story.turns.map((turn) => turn.id));
  for (const delivery of story.deliveries) {
    if (delivery.turn === null || !turnIds.has(delivery.turn)) said.push(sayDelivery(delivery));
  }
  return said;
}

function sayDelivery(delivery: DeliveryRecord): string {
  return `Delivery ${delivery.id} (${delivery.kind}, ${delivery.state}): ${sayWhy(delivery)}`;
}

function sayTurn(turn: TurnRecord, message: MessageRecord | undefined): string {
  const who = turn.sender === null ? "nobody" : (turn.sender.name ?? turn.sender.id);
  const how = turn.causedBy === null ? `asked by ${who}` : `caused by ${turn.causedBy}`;
  const what = message && turn.causedBy === null ? `: "${shorten(message.text)}"` : "";
  return `Turn ${turn.id} (${turn.kind}): ${how} in ${turn.address} at ${iso(turn.createdAt)}${what}.`;
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

function sayRunStory(run: RunRecord, events: readonly WireRunEvent[]): string[] {
  const state = run.reason === null ? run.state : `${run.state}, ${run.reason}`;
  const posted = run.postedIn === null ? "nothing of it is posted" : `it was posted in ${run.postedIn}`;
  const origin = run.origin === run.replyTo ? "" : ` It was asked in ${run.origin}.`;
  const said = [
    `Run ${run.id} of ${run.agent} (${state}): its answer is due in ${run.replyTo}; ${posted}.${origin}`,
  ];
  if (events.length > 0) {
    const steps = events.filter((event) => event.kind !== "progress");
    said.push(`Run ${run.id}: ${steps.map((event) => `${event.kind} ${event.at}`).join(", ")}.`);
  }
  for (const event of events) {
    if (event.kind !== "send_refused") continue;
    const { address, reason, use } = (event.data ?? {}) as Record<string, unknown>;
    const right = typeof use === "string" ? ` It was told to use ${use}.` : "";
    said.push(
      `Run ${run.id} tried to send to ${String(address)}, which was refused: ${String(reason)}.${right}`,
    );
  }
  return said;
}
