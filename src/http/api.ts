/**
 * The wire types of the HTTP API, for the console and the command line; types only. Times are ISO 8601 in UTC,
 * addresses are texts (`channel:account/conversation[/thread]`), and lists are pages.
 */

/** A page of a list. `next` goes into the query parameter `next` for the following page; null: there is none. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

export type WireRunState =
  | "staged"
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "failed"
  | "cancelled"
  | "interrupted";

export type WireMessagePart =
  | { type: "text"; text: string }
  | { type: "file"; mediaType: string; url: string; filename?: string }
  | { type: "data"; name: string; value: unknown; id?: string }
  | { type: "citation"; url: string; title?: string };

/** The body of `POST /v1/messages`. `text` or `parts`, or both. */
export interface PostMessage {
  conversation: string;
  kind?: "dm" | "channel";
  thread?: string;
  sender?: { id: string; name?: string };
  text?: string;
  parts?: WireMessagePart[];
  id?: string;
  agent?: string;
}

/** What a message led to; the same again for the same `id`. */
export interface WireAccepted {
  turn: string;
  /** Null if a reserved word or a cap was answered at once. */
  run: string | null;
  stream: string | null;
  address: string;
  message: string;
  outcome: "queued" | "replied";
}

export interface WireMessage {
  id: string;
  address: string;
  /** Its place in its conversation or thread, from 1. */
  postSeq: number;
  role: "user" | "assistant";
  text: string;
  parts: WireMessagePart[];
  /** For a text of ours: its key and values; `text` is rendered in the reader's language. */
  notice: { key: string; values: Record<string, string | number> } | null;
  turn: string | null;
  run: string | null;
  delivery: string | null;
  /** The id that the platform, or the client that posted it, gave it. */
  platformId: string | null;
  sender: { id: string; name: string | null } | null;
  at: string;
}

export interface WireConversation {
  address: string;
  /** The conversation of a thread. */
  parent: string | null;
  channel: string;
  account: string;
  conversation: string;
  thread: string | null;
  kind: "dm" | "group" | "channel" | "unknown";
  title: string | null;
  lastPostSeq: number;
  createdAt: string;
  lastAt: string;
}

export interface WireRun {
  id: string;
  agent: string;
  agentVersion: string;
  state: WireRunState;
  reason: string | null;
  abortCause: string | null;
  turn: string;
  root: string;
  parent: string | null;
  /** False: a foreground run, which its lane orders. True: a job. */
  background: boolean;
  stream: string;
  streamRoot: string;
  trace: string;
  /** Where it was asked. */
  origin: string;
  /** Where its answer is due. */
  replyTo: string;
  /** Where its answer was really posted. */
  postedIn: string | null;
  attempts: number;
  /** The boot id of the node that runs it. */
  owner: string | null;
  progress: { text: string; percent: number | null } | null;
  usage: Record<string, unknown> | null;
  /** What it may use at most; what is left out is not limited. */
  limits: { tokens?: number; steps?: number; wallMs?: number };
  /** What was asked. */
  text: string;
  sender: { id: string; name: string | null } | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  deadlineAt: string | null;
}

/** The answer of `POST /v1/sends`; `run` if it was sent in the name of one by a token for tools. */
export interface WireSent {
  delivery: string;
  address: string;
  state: string;
  run?: string;
}

/** The answer of `/v1/node`: the process that answers, and the agents that it has. */
export interface WireNode {
  version: string;
  /** The boot id, as in a run's `owner`; another one after each start. Null: no gateway runs, its store is read. */
  boot: string | null;
  pid: number | null;
  /** In the order of the settings. */
  agents: { name: string; version: string; background: boolean }[];
  /** The agent that answers where none is named. */
  defaultAgent: string | null;
}

export interface WireRunEvent {
  seq: number;
  kind: string;
  data: Record<string, unknown> | null;
  at: string;
}

export interface WireStatus {
  address: string;
  /** Live ones first, then the newest that ended. */
  runs: WireRun[];
  /** The sentence that people get. */
  text: string;
}

/** `withdrawn`: a preview that was taken away, because its run ended without an answer. */
export type WireDeliveryState =
  | "pending"
  | "sending"
  | "delivered"
  | "unknown"
  | "blocked"
  | "held"
  | "dead"
  | "withdrawn";

export type WireDeliveryRule = "explicit" | "turn" | "last-active" | "latest-seen" | "configured";

export interface WireDelivery {
  id: string;
  /** `final`, `notice`, `say`, `send`, `reply`, or `schedule` for what a schedule posts. */
  kind: string;
  run: string | null;
  turn: string | null;
  message: string | null;
  /** How it begins: 160 characters at most; null where nothing was to be said yet. */
  text: string | null;
  /** The schedule that made it. */
  schedule: string | null;
  /** Empty while it is held for want of an address; `POST /v1/deliveries/{id}/retry` with `to` gives it one. */
  address: string;
  state: WireDeliveryState;
  /** The rule that chose its address. */
  rule: WireDeliveryRule;
  /** What was looked at before and refused. */
  rejected: { rule: WireDeliveryRule; address: string; reason: string }[];
  /** Why it is not delivered. */
  reason: string | null;
  /** Why it went there, in a sentence. */
  why: string;
  attempts: number;
  receipts: { part: number; platformId: string; address: string; permalink: string | null; at: string }[];
  ops: {
    id: string;
    kind: string;
    part: number;
    state: string;
    attempts: number;
    error: string | null;
    nextAt: string | null;
    createdAt: string;
  }[];
  createdAt: string;
  settledAt: string | null;
  nextAt: string | null;
}

export interface WireTurn {
  id: string;
  kind: string;
  address: string;
  /** The message that asked. */
  message: WireMessage | null;
  sender: { id: string; name: string | null; principal: string | null } | null;
  causedBy: string | null;
  createdAt: string;
}

/** The answer of `/v1/why/{id}`: what the id names, and the whole story it belongs to. */
export interface WireStory {
  /** What was asked for. */
  id: string;
  found: "run" | "turn" | "stream" | "message" | "delivery" | "op" | "trace";
  turns: WireTurn[];
  runs: (WireRun & { events: WireRunEvent[] })[];
  deliveries: WireDelivery[];
  messages: WireMessage[];
  /** The story in sentences, in order. */
  text: string[];
}

/** `done`: a one-time schedule that has fired. `removed`: it stands in the settings no more. */
export type WireScheduleState = "active" | "disabled" | "done" | "removed";

/** Something that comes by the clock: a heartbeat, or a reminder. */
export interface WireSchedule {
  id: string;
  /** `settings`: changed there only. `api`: made by an operator. `agent`: a reminder that a run asked for. */
  source: "settings" | "api" | "agent";
  state: WireScheduleState;
  /** Null: it fires once. */
  cron: string | null;
  /** An IANA name, such as `Europe/Berlin`; the times of `cron` are those of its clocks. */
  timeZone: string;
  /** An address, or the slot that is asked when it fires: `last-active`, `latest-seen`. Null: none is named. */
  to: string | null;
  /** With a slot: whose slot, such as `slack:T1`. */
  account: string | null;
  /** The agent that is asked `text`. Null: `text` itself is posted. */
  agent: string | null;
  text: string;
  /** The run that asked for it. */
  askedBy: string | null;
  /** Null: it does not fire any more, or not now. */
  nextAt: string | null;
  lastAt: string | null;
  /** What it led to the last time: a run, or a delivery; both null if it has not fired. */
  lastRun: string | null;
  lastDelivery: string | null;
  /** Why it would be held if it fired now; null: its destination is complete. */
  incomplete: string | null;
  createdAt: string;
}

/** The body of `POST /v1/schedules`: `cron` for each time, `at` or `inMs` for once. */
export interface PostSchedule {
  /** Of your choice, `a-z0-9_-`; left out: one is made. The same again with the same content: the same answer. */
  id?: string;
  cron?: string;
  timeZone?: string;
  /** ISO 8601. */
  at?: string;
  /** Milliseconds from now. */
  inMs?: number;
  to?: string;
  account?: string;
  agent?: string;
  text: string;
}

/** The body of `PATCH /v1/schedules/{id}`. One from the settings takes `state` only. */
export interface PatchSchedule {
  state?: "active" | "disabled";
  to?: string;
  account?: string;
  text?: string;
}

/** A place that an account remembers for sends that belong to no turn. */
export interface WireSlot {
  /** `slack:T1` */
  account: string;
  slot: "last-active" | "latest-seen";
  address: string;
  at: string;
}

/** Somebody who was turned away, once for each sender, place and reason. The id is what an allowlist takes. */
export interface WireDenial {
  address: string;
  sender: string;
  name: string | null;
  reason: string;
  times: number;
  firstAt: string;
  lastAt: string;
}

/** A send that the rules of addresses refused; nothing was posted. */
export interface WireRefusal {
  run: string;
  /** The place among the run's events. */
  seq: number;
  agent: string;
  /** The rule by which the refused place was a candidate. */
  rule: WireDeliveryRule;
  /** What was named, as it was given; it need not be an address. */
  address: string;
  /** The error's code (`cross_post_not_allowed`, `invalid_address`), or what the allowlist said. */
  reason: string;
  /** The address that would have been right. */
  use: string | null;
  at: string;
}

/** A channel of this node, and how it stands. */
export interface WireChannel {
  kind: string;
  account: string;
  state: "on" | "connecting" | "standing-by" | "off";
  /** What is to be done, or who has it; null where it is on. */
  reason: string | null;
}

/** Every error: `application/problem+json` (RFC 9457). More members come with some codes. */
export interface WireProblem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  /** The id of the request, as in the log. */
  request: string;
  /** What is wrong with which field. */
  issues?: { field: string; rule: string }[];
}

/** What the live feed sends: `message` of one place (with its post_seq as event id), and hints. */
export type WireFeedEvent =
  | { event: "message"; data: WireMessage }
  | { event: "posted"; data: { address: string } }
  | { event: "run"; data: { run: string; address: string; state: WireRunState } }
  | { event: "delivery"; data: { delivery: string; address: string } };
