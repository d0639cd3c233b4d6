import type { Program, CommandEnv } from "../db/command.ts";
import { planDelivery } from "../deliveries/plan-delivery.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import { relatedId } from "../kernel/ids.ts";
import { renderText } from "../texts/render.ts";
import { acceptMessage, type AcceptInput } from "../turns/accept-message.ts";
import { capsFor } from "../turns/daily-caps.ts";
import { scopeOf } from "../turns/inbox.ts";
import type { HeldContent } from "./hold-firing.ts";
import type { Found } from "./resolve-destination.ts";
import type { ScheduleServices } from "./services.ts";

/** What a firing comes to, planned outside and recorded by a command. */
export type Effect = { kind: "run"; accept: AcceptInput } | { kind: "post"; delivery: NewDelivery };

/** What came of it. */
export interface Fired {
  /** Null: a cap of the day was reached, and that was said instead. */
  run: string | null;
  delivery: string | null;
  address: string;
  outbox: boolean;
}

export interface Firing {
  schedule: string;
  content: Pick<HeldContent, "agent" | "text">;
  askedBy: string | null;
  trace: string | null;
  /** The delivery that was held and is completed by this. */
  held?: string;
}

/** @throws WaybillError `unknown_agent` */
export function planEffect(s: ScheduleServices, firing: Firing, found: Found): Effect {
  const { content, schedule, held } = firing;
  if (content.agent !== null) return { kind: "run", accept: planRun(s, firing, content.agent, found) };
  const { place, rule } = found;
  const wish = {
    kind: "schedule",
    run: null,
    turn: null,
    place,
    text: content.text,
    rule,
    schedule,
  } as const;
  return { kind: "post", delivery: planDelivery({ ...wish, ...(held === undefined ? {} : { held }) }, s) };
}

/** A turn of kind `schedule` at the destination, in its lane, with a run and a stream root of its own. */
function planRun(s: ScheduleServices, firing: Firing, name: string, found: Found): AcceptInput {
  const { place, rule } = found;
  const agent = s.agent(name);
  const [turn, run] = [s.ids.next("turn"), s.ids.next("run")];
  const stream = relatedId(run, "str");
  const sender = { id: `schedule:${firing.schedule}`, name: null, principal: null };
  const caps = capsFor(s.caps, place, sender.id, agent.name);
  const { text } = firing.content;
  return {
    tenant: s.tenant,
    key: null,
    turn: { kind: "schedule", causedBy: firing.schedule },
    place,
    message: null,
    sender,
    followUp: "queue",
    caps,
    capReply: caps.length > 0 ? capReply(s, firing.schedule, found, name) : null,
    acknowledge: null,
    slots: false,
    run: {
      tenant: s.tenant,
      id: run,
      agent: agent.name,
      agentVersion: agent.version,
      turn,
      foreground: !agent.background,
      lane: place.address,
      state: "queued",
      recovery: agent.recovery,
      parent: null,
      root: run,
      stream,
      streamRoot: stream,
      trace: firing.trace ?? relatedId(run, "trace"),
      causedBy: firing.askedBy,
      origin: place.address,
      replyTo: place.address,
      scope: scopeOf(s.memory, place.address),
      input: {
        v: 1,
        text,
        parts: [{ type: "text", text }],
        sender,
        message: null,
        kind: place.kind,
        schedule: { id: firing.schedule, rule },
      },
      limits: agent.limits,
    },
  };
}

function capReply(s: ScheduleServices, schedule: string, { place, rule }: Found, agent: string): NewDelivery {
  const notice = { key: "daily_cap", values: { agent } };
  const text = renderText(s.locale, "daily_cap", { agent });
  return planDelivery({ kind: "notice", run: null, turn: null, place, text, notice, rule, schedule }, s);
}

/** Records it. Part of a larger command. */
export function* recordEffect(effect: Effect, env: CommandEnv): Program<Fired> {
  if (effect.kind === "post") {
    const { delivery } = effect;
    yield* recordDelivery(delivery, env.now);
    const outbox = delivery.mode === "outbox";
    return { run: null, delivery: delivery.id, address: delivery.place.address, outbox };
  }
  const { accept } = effect;
  const { accepted } = yield* acceptMessage.run(accept, env);
  const said = accepted.run === null ? accept.capReply : null;
  return {
    run: accepted.run,
    delivery: said?.id ?? null,
    address: accept.place.address,
    outbox: said?.mode === "outbox",
  };
}
