import { z } from "zod";
import type { Self } from "./bot.ts";

const integer = z.int();
/** No store keeps a NUL, nor half of a surrogate pair. Lengths stay, since entities count in them. */
const storable = z.string().transform((text) => text.replaceAll("\0", " ").toWellFormed());

const personShape = z.object({
  id: integer,
  is_bot: z.boolean().nullish(),
  first_name: storable.nullish(),
  last_name: storable.nullish(),
  username: storable.nullish(),
});
export type Person = z.infer<typeof personShape>;

const entityShape = z.object({
  type: z.string(),
  offset: integer.nonnegative(),
  length: integer.nonnegative(),
  url: storable.nullish(),
  user: personShape.nullish(),
});
export type Entity = z.infer<typeof entityShape>;

const fileShape = z.object({
  file_id: z.string().min(1).max(1_000),
  file_size: z.number().nonnegative().nullish().catch(null),
  file_name: storable.nullish(),
  mime_type: z.string().nullish(),
});
export type TelegramFile = z.infer<typeof fileShape>;

/** What a file may be sent as. Of a photo there are several sizes, the largest last. */
const attached = {
  photo: z.array(fileShape).nullish(),
  document: fileShape.nullish(),
  audio: fileShape.nullish(),
  voice: fileShape.nullish(),
  video: fileShape.nullish(),
  video_note: fileShape.nullish(),
  animation: fileShape.nullish(),
  sticker: fileShape.extend({ emoji: storable.nullish() }).nullish(),
};

/** What people send that an agent cannot be given; all that is looked at is that it is there. */
const others = [
  "location",
  "venue",
  "contact",
  "poll",
  "dice",
  "game",
  "story",
  "checklist",
  "paid_media",
] as const;
export type Other = (typeof others)[number];

const quotedShape = z.object({
  from: personShape.nullish(),
  text: storable.nullish(),
  caption: storable.nullish(),
  forum_topic_created: z.unknown().optional(),
});

const messageShape = z.object({
  message_id: integer,
  message_thread_id: integer.nullish(),
  is_topic_message: z.boolean().nullish(),
  is_automatic_forward: z.boolean().nullish(),
  media_group_id: z.string().max(100).nullish(),
  from: personShape.nullish(),
  chat: z.object({ id: integer, type: z.string(), title: storable.nullish() }),
  text: storable.nullish(),
  entities: z.array(entityShape).nullish(),
  caption: storable.nullish(),
  caption_entities: z.array(entityShape).nullish(),
  reply_to_message: quotedShape.nullish().catch(null),
  ...attached,
  ...Object.fromEntries(others.map((name) => [name, z.unknown().optional()])),
});
export type RawMessage = z.infer<typeof messageShape>;

const updateShape = z.object({
  update_id: integer,
  message: z.unknown().optional(),
  edited_message: z.unknown().optional(),
});

/** A message of a person. */
export interface TelegramMessage {
  chat: number;
  kind: "dm" | "group" | "channel" | "unknown";
  title: string | null;
  /** The topic, or null: also for "General", and for the thread of answers that a group without topics has. */
  topic: string | null;
  id: number;
  person: Person;
  text: string;
  entities: Entity[];
  /** The message that this one answers. */
  answers: { person: Person | null; text: string } | null;
  album: string | null;
  /** As Telegram describes them, for `readFiles`. */
  raw: RawMessage;
}

/** What to do about an update. */
export type Reading =
  | { kind: "message" | "changed"; message: TelegramMessage }
  /** Nothing; `unexpected` is worth a line in the log. */
  | { kind: "ignored"; why: string; unexpected?: true };

/** What is asked of Telegram: nothing else is looked at. Posts of channels are nobody's questions. */
export const wantedUpdates = ["message", "edited_message"] as const;

/** The number of an update, or null if it is none. */
export function updateIdOf(update: unknown): number | null {
  const read = updateShape.safeParse(update);
  return read.success ? read.data.update_id : null;
}

/**
 * Reads an update without asking anybody. What is said by a program (us, another bot, a channel, Telegram itself) is
 * ignored: programs that answer one another never stop. So is an administrator who speaks anonymously: nobody knows who.
 */
export function readUpdate(update: unknown, self: Self): Reading {
  const read = updateShape.safeParse(update);
  if (!read.success) return { kind: "ignored", why: "it is not an update", unexpected: true };
  const { message, edited_message: edited } = read.data;
  if (message === undefined && edited === undefined) return { kind: "ignored", why: "nothing here needs it" };
  const shaped = messageShape.safeParse(message ?? edited);
  if (!shaped.success) {
    const fields = shaped.error.issues.map(({ path }) => path.join(".")).slice(0, 5);
    return { kind: "ignored", why: `its message is malformed at ${fields.join(", ")}`, unexpected: true };
  }
  const { from } = shaped.data;
  if (!from) return { kind: "ignored", why: "nobody said it" };
  if (from.id === self.id) return { kind: "ignored", why: "it is our own" };
  if (from.is_bot === true) return { kind: "ignored", why: "a bot said it" };
  if (from.id === telegramItself || shaped.data.is_automatic_forward === true) {
    return { kind: "ignored", why: "it comes from a channel" };
  }
  if (!saysAnything(shaped.data)) return { kind: "ignored", why: "it is a note of Telegram's own" };
  return { kind: message === undefined ? "changed" : "message", message: toMessage(shaped.data, from) };
}

/** The user "Telegram", in whose name posts of a channel come into its group. */
const telegramItself = 777_000;

function saysAnything(raw: RawMessage): boolean {
  const said = [raw.text, raw.caption, ...Object.keys(attached).map((name) => fieldOf(raw, name))];
  return said.some((one) => one !== undefined && one !== null) || otherOf(raw) !== null;
}

/** What of a message is no text and no file. A venue is a location too, a paid medium nothing else. */
export function otherOf(raw: RawMessage): Other | null {
  return others.find((name) => fieldOf(raw, name) !== undefined) ?? null;
}

function fieldOf(raw: RawMessage, name: string): unknown {
  return (raw as Record<string, unknown>)[name];
}

function toMessage(raw: RawMessage, person: Person): TelegramMessage {
  const { chat, reply_to_message: quoted, message_thread_id: thread } = raw;
  // The first message of a topic is what all others in it seem to answer.
  const isAnswer = quoted && quoted.forum_topic_created === undefined;
  return {
    chat: chat.id,
    kind: kinds[chat.type] ?? "unknown",
    title: chat.title?.slice(0, 200) ?? null,
    topic: raw.is_topic_message === true && thread ? String(thread) : null,
    id: raw.message_id,
    person,
    text: raw.text ?? raw.caption ?? "",
    entities: raw.entities ?? raw.caption_entities ?? [],
    answers: isAnswer ? { person: quoted.from ?? null, text: quoted.text ?? quoted.caption ?? "" } : null,
    album: raw.media_group_id ?? null,
    raw,
  };
}

/** Telegram's words. A supergroup may be public and have any number of members, so it counts as a channel. */
const kinds: Readonly<Record<string, TelegramMessage["kind"]>> = {
  private: "dm",
  group: "group",
  supergroup: "channel",
  channel: "channel",
};

/** What people see as somebody's name. */
export function nameOf({ first_name: first, last_name: last, username }: Person): string | null {
  const name = [first, last].filter(Boolean).join(" ").trim() || (username ? `@${username}` : "");
  return name === "" ? null : name.slice(0, 200).toWellFormed();
}
