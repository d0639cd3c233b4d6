import type { Database } from "../db/database.ts";
import { planDelivery } from "../deliveries/plan-delivery.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { NewDelivery } from "../deliveries/record-delivery.ts";
import type { Sender as ChannelSender } from "../deliveries/sender.ts";
import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import { relatedId, type Ids } from "../kernel/ids.ts";
import type { Logger } from "../kernel/logger.ts";
import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import type { AskedAbort } from "../ledger/ask-abort.ts";
import type { RecoveryPolicy, RunLimits } from "../ledger/run.ts";
import { renderStoredText, renderText, type Locale } from "../texts/render.ts";
import { acceptMessage, type AcceptInput, type FollowUp } from "./accept-message.ts";
import { answerWord } from "./answer-word.ts";
import { capsFor, type DailyCaps } from "./daily-caps.ts";
import { amendMessage, withdrawMessage } from "./change-message.ts";
import type { Accepted, ChangeOutcome, Inbox, IncomingMessage, MessageChange } from "./incoming.ts";
import { noteDenial } from "./note-denial.ts";
import { reservedWordOf, type ReservedWord } from "./reserved-words.ts";

/** What the inbox needs to know of an agent. */
export interface AgentFacts {
  name: string;
  version: string;
  background: boolean;
  recovery: RecoveryPolicy;
  limits: RunLimits;
}

export interface InboxOptions {
  tenant: string;
  db: Database;
  ids: Ids;
  log: Logger;
  reach: ReachCrashPoint;
  locale: Locale;
  senders: ReadonlyMap<string, ChannelSender>;
  /** True, or why this sender may not speak here. Asked before anything else happens. */
  authorize(incoming: IncomingMessage): true | string;
  /** True, or why this place may not be posted to. */
  allows(place: Place): true | string;
  route(address: string): string;
  /** @throws WaybillError `unknown_agent` */
  agent(name: string): AgentFacts;
  memory: "conversation" | "shared";
  followUp: FollowUp;
  slots: boolean;
  caps: DailyCaps;
  /** False while the gateway shuts down. */
  open(): boolean;
  /** Told in the moment a message is on its way into the store, so that a claim can share its commit. */
  onAccepting?(): void;
  /** Told after the commit. */
  onAccepted?(accepted: Accepted, incoming: IncomingMessage, aborts: AskedAbort[]): void;
  /** Told after the commit of a change to what was said before. */
  onChanged?(place: Place, aborts: AskedAbort[]): void;
}

/** The memory scope of a place: its own, or one for all. */
export function scopeOf(memory: "conversation" | "shared", address: string): string {
  return memory === "shared" ? "shared" : address;
}

/** Takes messages in: authorise, words, then turn and run in one commit. */
export function createInbox(options: InboxOptions): Inbox {
  return {
    accept: (incoming) => accept(options, incoming),
    amend: (change) => amend(options, change),
    withdraw: (change) => withdraw(options, change),
  };
}

/** Where the answer to a message is due. */
function dueAt({ place, answerIn }: IncomingMessage): Place {
  return answerIn ?? place;
}

/** Who may not speak here any more changes nothing here either. */
function mayChange(o: InboxOptions, change: MessageChange): boolean {
  const { place, id, sender } = change;
  return o.open() && o.authorize({ place, id, sender, principal: null, text: "", parts: [] }) === true;
}

async function amend(o: InboxOptions, change: MessageChange & { text: string }): Promise<ChangeOutcome> {
  if (!mayChange(o, change)) return "unknown";
  const outcome = await o.db.do(amendMessage, changeInput(o, change, change.text));
  if (outcome !== "unknown") o.onChanged?.(change.place, []);
  return outcome;
}

async function withdraw(o: InboxOptions, change: MessageChange): Promise<ChangeOutcome> {
  if (!mayChange(o, change)) return "unknown";
  const { outcome, aborts } = await o.db.do(withdrawMessage, changeInput(o, change, ""));
  if (outcome !== "unknown") o.onChanged?.(change.place, aborts);
  return outcome;
}

function changeInput(o: InboxOptions, { place, id, sender }: MessageChange, text: string) {
  return { tenant: o.tenant, scope: scopeOfMessages(place), key: id, sender: sender.id, text };
}

/** Where the ids of messages count: the conversation, also of what was said in its threads. */
function scopeOfMessages(place: Place): string {
  return `message:${place.parent ?? place.address}`;
}

async function accept(o: InboxOptions, incoming: IncomingMessage): Promise<Accepted> {
  if (!o.open())
    throw new WaybillError("shutting_down", "Waybill is stopping; send the message again in a moment.");
  const allowed = o.authorize(incoming);
  if (allowed !== true) return deny(o, incoming, allowed);
  const word = incoming.parts.every((part) => part.type === "text") ? reservedWordOf(incoming.text) : null;
  const result = word ? await acceptWord(o, incoming, word) : await acceptRun(o, incoming);
  o.reach("accept:after-commit");
  const { accepted, aborts } = result;
  o.log.info(
    { turn: accepted.turn, run: accepted.run, repeated: accepted.repeated },
    "a message was accepted",
  );
  o.onAccepted?.(accepted, incoming, aborts);
  return accepted;
}

async function deny(o: InboxOptions, incoming: IncomingMessage, reason: string): Promise<never> {
  const { place, sender } = incoming;
  const record = { tenant: o.tenant, address: place.address, sender: sender.id, name: sender.name, reason };
  await o.db.do(noteDenial, record);
  o.log.warn({ address: place.address, sender: sender.id }, "a sender was turned away");
  throw new WaybillError(
    "sender_not_allowed",
    `The sender ${sender.id} may not speak in ${place.address}: ${reason}. An operator can add the id to the channel's allow list.`,
    { sender: sender.id, address: place.address },
  );
}

function keyOf(incoming: IncomingMessage) {
  return {
    scope: scopeOfMessages(incoming.place),
    key: incoming.id,
    digest: sha256(
      canonicalJson([
        incoming.place.address,
        incoming.sender.id,
        incoming.text,
        incoming.parts,
        incoming.agent ?? null,
      ]),
    ),
  };
}

function messageOf(o: InboxOptions, incoming: IncomingMessage) {
  const parts = JSON.stringify({ v: 1, parts: incoming.parts });
  return { id: incoming.standing ?? o.ids.next("msg"), platformId: incoming.id, text: incoming.text, parts };
}

function replyPlan(o: InboxOptions, turn: string, place: Place, text: string): NewDelivery {
  return planDelivery({ kind: "reply", run: null, turn, place, text, rule: "turn" }, o);
}

async function acceptWord(o: InboxOptions, incoming: IncomingMessage, word: ReservedWord) {
  const turn = o.ids.next("turn");
  return o.db.do(answerWord, {
    tenant: o.tenant,
    key: keyOf(incoming),
    word,
    turn,
    place: incoming.place,
    message: messageOf(o, incoming),
    stands: incoming.regenerate === true,
    sender: { ...incoming.sender, principal: incoming.principal },
    scope: scopeOf(o.memory, dueAt(incoming).address),
    locale: o.locale,
    notices: leftOutNotices(o, turn, incoming),
    slots: o.slots,
    reply: replyPlan(o, turn, dueAt(incoming), ""),
  });
}

async function acceptRun(o: InboxOptions, incoming: IncomingMessage) {
  const input = toAcceptInput(o, incoming);
  const done = o.db.do(acceptMessage, input);
  o.onAccepting?.();
  return done;
}

function toAcceptInput(o: InboxOptions, incoming: IncomingMessage): AcceptInput {
  const { place, sender, principal } = incoming;
  const agent = o.agent(incoming.agent ?? o.route(place.address));
  const [turn, run] = [o.ids.next("turn"), o.ids.next("run")];
  const stream = relatedId(run, "str");
  const message = messageOf(o, incoming);
  const person = { ...sender, principal };
  const caps = capsFor(o.caps, place, sender.id, agent.name);
  const due = dueAt(incoming);
  return {
    tenant: o.tenant,
    key: keyOf(incoming),
    place,
    message: incoming.regenerate === true ? null : message,
    sender: person,
    followUp: o.followUp,
    caps,
    notices: leftOutNotices(o, turn, incoming),
    empty:
      incoming.leftOut !== undefined && incoming.text.trim() === "" && !incoming.parts.some(saysSomething),
    capReply: caps.length > 0 ? capReply(o, turn, due, agent.name) : null,
    acknowledge: agent.background ? acknowledgement(o, turn, run, due, agent.name) : null,
    slots: o.slots,
    run: {
      tenant: o.tenant,
      id: run,
      agent: agent.name,
      agentVersion: agent.version,
      turn,
      foreground: !agent.background,
      lane: due.address,
      state: "queued",
      recovery: agent.recovery,
      parent: null,
      root: run,
      stream,
      streamRoot: stream,
      trace: relatedId(run, "trace"),
      causedBy: null,
      origin: place.address,
      replyTo: due.address,
      scope: scopeOf(o.memory, due.address),
      input: {
        v: 1,
        text: incoming.text,
        parts: incoming.parts,
        sender: person,
        message: message.id,
        kind: place.kind,
        ...(incoming.regenerate === true ? { again: true as const } : {}),
      },
      limits: agent.limits,
    },
  };
}

function capReply(o: InboxOptions, turn: string, place: Place, agent: string): NewDelivery {
  const notice = { key: "daily_cap", values: { agent } };
  const text = renderText(o.locale, "daily_cap", { agent });
  return planDelivery({ kind: "reply", run: null, turn, place, text, notice, rule: "turn" }, o);
}

function saysSomething(part: IncomingMessage["parts"][number]): boolean {
  return part.type !== "text" || part.text.trim() !== "";
}

/** What a channel could not take is told, one post for each reason, never dropped silently. */
function leftOutNotices(o: InboxOptions, turn: string, incoming: IncomingMessage): NewDelivery[] {
  const names = new Map<string, string[]>();
  for (const { name, reason, values } of incoming.leftOut ?? []) {
    const said = renderStoredText(o.locale, reason, values ?? {}) ?? reason;
    names.set(said, [...(names.get(said) ?? []), name]);
  }
  return [...names].map(([reason, all]) => {
    const values = { name: all.join(", "), reason };
    const notice = { key: "parts.left_out", values };
    const text = renderText(o.locale, "parts.left_out", values);
    return planDelivery(
      { kind: "reply", run: null, turn, place: dueAt(incoming), text, notice, rule: "turn" },
      o,
    );
  });
}

function acknowledgement(
  o: InboxOptions,
  turn: string,
  run: string,
  place: Place,
  agent: string,
): NewDelivery {
  const values = { agent, run };
  const notice = { key: "job.accepted", values };
  const text = renderText(o.locale, "job.accepted", values);
  return planDelivery({ kind: "say", run, turn, place, text, notice, rule: "turn" }, o);
}
