import type { ConversationRecord } from "../deliveries/read-conversations.ts";
import type { DeliveryRecord } from "../deliveries/read-deliveries.ts";
import type { MessageRecord } from "../deliveries/read-messages.ts";
import type { RunRecord } from "../ledger/read-runs.ts";
import { renderStoredText, type Locale } from "../texts/render.ts";
import type { WireConversation, WireDelivery, WireMessage, WireRun } from "./api.ts";
import { sayWhy } from "./say-why.ts";

/** Milliseconds since 1970 as ISO 8601. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** A message for one reader: a notice is rendered in the reader's language. */
export function toWireMessage(message: MessageRecord, locale: Locale): WireMessage {
  const { notice } = message;
  const rendered = notice === null ? null : renderStoredText(locale, notice.key, notice.values);
  return {
    id: message.id,
    address: message.address,
    postSeq: message.postSeq,
    role: message.role,
    text: rendered ?? message.text,
    parts: rendered === null ? message.parts : [{ type: "text", text: rendered }],
    notice,
    turn: message.turn,
    run: message.run,
    delivery: message.delivery,
    platformId: message.platformId,
    sender: message.sender,
    at: iso(message.at),
  };
}

export function toWireRun(run: RunRecord): WireRun {
  return {
    id: run.id,
    agent: run.agent,
    agentVersion: run.agentVersion,
    state: run.state,
    reason: run.reason,
    abortCause: run.abortCause,
    turn: run.turn,
    root: run.root,
    parent: run.parent,
    background: !run.foreground,
    stream: run.stream,
    streamRoot: run.streamRoot,
    trace: run.trace,
    origin: run.origin,
    replyTo: run.replyTo,
    postedIn: run.postedIn,
    attempts: run.attempts,
    owner: run.owner,
    progress: run.progress === null ? null : { text: run.progress, percent: run.progressPercent },
    usage: run.usage,
    limits: run.limits,
    text: run.text,
    sender: run.sender === null ? null : { id: run.sender.id, name: run.sender.name },
    createdAt: iso(run.createdAt),
    startedAt: iso(run.startedAt),
    finishedAt: iso(run.finishedAt),
    deadlineAt: iso(run.deadlineAt),
  };
}

export function toWireDelivery(delivery: DeliveryRecord): WireDelivery {
  const { receipts, ops, createdAt, settledAt, nextAt, ...rest } = delivery;
  return {
    ...rest,
    why: sayWhy(delivery),
    receipts: receipts.map((receipt) => ({ ...receipt, at: iso(receipt.at) })),
    ops: ops.map((op) => ({ ...op, nextAt: iso(op.nextAt), createdAt: iso(op.createdAt) })),
    createdAt: iso(createdAt),
    settledAt: iso(settledAt),
    nextAt: iso(nextAt),
  };
}

export function toWireConversation(conversation: ConversationRecord): WireConversation {
  const { createdAt, lastAt, ...rest } = conversation;
  return { ...rest, createdAt: iso(createdAt), lastAt: iso(lastAt) };
}
