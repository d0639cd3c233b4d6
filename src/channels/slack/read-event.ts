import { z } from "zod";

/** Who we are in a workspace, as `auth.test` says. */
export interface Self {
  userId: string;
  botId: string | null;
}

/** A message of a person, as it stands in an event. */
export interface SlackMessage {
  conversation: string;
  /** Slack's own word for the conversation, where the event has it: `im`, `mpim`, `channel` or `group`. */
  channelType: string | null;
  ts: string;
  /** The thread that the message stands in; null for the top level, and for the message that a thread hangs from. */
  thread: string | null;
  user: string;
  /** As Slack writes it, with its markup and entities. */
  text: string;
  /** As Slack describes them. */
  files: unknown[];
  /** The author of the message that the thread hangs from, where the event says it. */
  threadAuthor: string | null;
}

/** What to do about an envelope. */
export type Reading =
  | { kind: "message"; message: SlackMessage; mentioned: boolean }
  | { kind: "changed"; message: SlackMessage }
  | { kind: "deleted"; message: SlackMessage }
  /** A person opens a shortcut, or an event that another part of the channel takes. */
  | { kind: "other"; type: string; event: Record<string, unknown> }
  /** Nothing; `unexpected` is worth a line in the log. */
  | { kind: "ignored"; why: string; unexpected?: true };

/** The outside of an event, as far as it is looked at: Events API over HTTP and Socket Mode have the same. */
export interface Envelope {
  type: string;
  /** The workspaces that the event is for. */
  teams: string[];
  challenge: string | null;
  event: Record<string, unknown> | null;
  /** The whole of it. */
  payload: Record<string, unknown>;
}

const id = z.string().min(1).max(200);

const envelopeShape = z.object({
  type: z.string().max(100),
  team_id: id.nullish(),
  challenge: z.string().max(1_000).nullish(),
  authorizations: z.array(z.object({ team_id: id.nullish() })).nullish(),
  team: z.object({ id: id.nullish() }).nullish(),
  event: z.record(z.string(), z.unknown()).nullish(),
});

/** The envelope of an event, or null if it is none. */
export function readEnvelope(payload: unknown): Envelope | null {
  const read = envelopeShape.safeParse(payload);
  if (!read.success) return null;
  const { type, team_id, authorizations, team, challenge, event } = read.data;
  // In a shared channel the event may name the workspace of the person who wrote; who it is for stands beside it.
  const teams = [...(authorizations ?? []).map((one) => one.team_id), team_id, team?.id];
  return {
    type,
    teams: [...new Set(teams.filter((one) => typeof one === "string"))],
    challenge: challenge ?? null,
    event: event ?? null,
    payload: payload as Record<string, unknown>,
  };
}

const bodyShape = z.object({
  ts: id,
  user: id.nullish(),
  bot_id: id.nullish(),
  subtype: z.string().nullish(),
  text: z.string().nullish(),
  thread_ts: id.nullish(),
  parent_user_id: id.nullish(),
  files: z.array(z.unknown()).nullish(),
});
type Body = z.infer<typeof bodyShape>;

const eventShape = z.object({
  type: z.string(),
  subtype: z.string().nullish(),
  channel: id,
  channel_type: z.string().nullish(),
  ts: id.nullish(),
  deleted_ts: id.nullish(),
  message: bodyShape.nullish(),
  previous_message: bodyShape.nullish(),
});
type Event = z.infer<typeof eventShape>;

/** Subtypes under which people say something. All others are notes of Slack's own (somebody joined, a topic was set). */
const spoken = new Set(["file_share", "thread_broadcast", "me_message"]);

/**
 * Reads an event without asking anybody. What is said by a program (us, another bot) is ignored: programs that answer
 * one another never stop.
 */
export function readEvent(envelope: Envelope, self: Self): Reading {
  const { event } = envelope;
  if (envelope.type !== "event_callback" || event === null) {
    return { kind: "ignored", why: `an envelope of the type ${shown(envelope.type)}`, unexpected: true };
  }
  const type = typeof event["type"] === "string" ? event["type"] : "";
  if (type !== "message" && type !== "app_mention") return { kind: "other", type: shown(type), event };
  const read = eventShape.safeParse(event);
  if (!read.success) return malformed(type, read.error);
  switch (read.data.subtype) {
    case "message_changed":
      return readChange(read.data, self);
    case "message_deleted":
      return readDeletion(read.data, self);
    default:
      return readSaid(read.data, event, self);
  }
}

function readSaid(event: Event, raw: Record<string, unknown>, self: Self): Reading {
  const read = bodyShape.safeParse(raw);
  if (!read.success) return malformed(event.type, read.error);
  const ignored = notAPerson(read.data, self);
  if (ignored !== null) return { kind: "ignored", why: ignored };
  const message = toMessage(event, read.data);
  return { kind: "message", message, mentioned: event.type === "app_mention" || names(message.text, self) };
}

function readChange(event: Event, self: Self): Reading {
  const { message: now, previous_message: before } = event;
  if (!now) return { kind: "ignored", why: "a change without a message", unexpected: true };
  // The message that a thread hangs from is not deleted but emptied, so that its answers keep their place.
  if (now.subtype === "tombstone") return readDeletion({ ...event, deleted_ts: now.ts }, self);
  const ignored = notAPerson(now, self);
  if (ignored !== null) return { kind: "ignored", why: ignored };
  // Slack unfurls links, and says so in the same way.
  if (before && (before.text ?? "") === (now.text ?? ""))
    return { kind: "ignored", why: "the text is as before" };
  return { kind: "changed", message: toMessage(event, now) };
}

function readDeletion(event: Event, self: Self): Reading {
  const ts = event.deleted_ts ?? event.previous_message?.ts;
  if (!ts) return { kind: "ignored", why: "a deletion without a message", unexpected: true };
  const before = { ...event.previous_message, ts };
  // Whoever wrote it, whatever hangs from it is gone: the watch on threads wants to know.
  const message = toMessage(event, before);
  return notAPerson(before, self) === null || message.user === ""
    ? { kind: "deleted", message }
    : { kind: "deleted", message: { ...message, user: "" } };
}

/** Why this is not said by a person, or null. */
function notAPerson(body: Body, self: Self): string | null {
  if (body.user === self.userId || (body.bot_id && body.bot_id === self.botId)) return "it is our own";
  if (body.bot_id || body.subtype === "bot_message") return "a bot said it";
  if (body.user === "USLACKBOT") return "Slackbot said it";
  if (body.subtype && !spoken.has(body.subtype)) return `a note of Slack's own (${shown(body.subtype)})`;
  return body.user ? null : "nobody said it";
}

function toMessage(event: Event, body: Body): SlackMessage {
  const thread = body.thread_ts ?? null;
  return {
    conversation: event.channel,
    channelType: event.channel_type ?? null,
    ts: body.ts,
    thread: thread === body.ts ? null : thread,
    user: body.user ?? "",
    text: body.text ?? "",
    files: body.files ?? [],
    threadAuthor: body.parent_user_id ?? null,
  };
}

/** True if the text, as Slack writes it, names us. */
export function names(text: string, self: Self): boolean {
  return text.includes(`<@${self.userId}>`) || text.includes(`<@${self.userId}|`);
}

function malformed(type: string, error: z.ZodError): Reading {
  const fields = error.issues.map(({ path }) => path.join(".")).join(", ");
  return { kind: "ignored", why: `a ${type} event with unusable fields: ${shown(fields)}`, unexpected: true };
}

/** What somebody sent, fit for a line of a log. */
function shown(text: string): string {
  return text.slice(0, 80).replace(/[^\w.,-]/g, "?");
}
