import { nameOf, type Entity, type TelegramMessage } from "./read-update.ts";
import type { Self } from "./bot.ts";

/**
 * How a message stands to the bot.
 *
 *   named      it names the bot, or answers one of its posts
 *   command    `/status` and the like, without a name behind it: every bot of a group is meant
 *   elsewhere  a command for another bot
 */
export type Meaning = "named" | "command" | "elsewhere" | null;

/** Commands that every bot of a group answers to. */
const shared = new Set(["/stop", "/new", "/status", "/help", "/start"]);

export function meaningOf({ text, entities, answers }: TelegramMessage, self: Self): Meaning {
  const command = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  if (command) {
    const [name = "", bot] = textOf(text, command).split("@", 2);
    if (bot !== undefined) return sameName(bot, self) ? "named" : "elsewhere";
    if (shared.has(name.toLowerCase()) && text.trim().length === command.length) return "command";
  }
  if (entities.some((entity) => isOurs(entity, text, self))) return "named";
  return answers?.person?.id === self.id ? "named" : null;
}

function isOurs(entity: Entity, text: string, self: Self): boolean {
  switch (entity.type) {
    case "mention":
      return sameName(textOf(text, entity).slice(1), self);
    case "text_mention":
      return entity.user?.id === self.id;
    case "bot_command":
      return sameName(textOf(text, entity).split("@", 2)[1] ?? "", self);
    default:
      return false;
  }
}

function textOf(text: string, { offset, length }: Entity): string {
  return text.slice(offset, offset + length);
}

function sameName(name: string, self: Self): boolean {
  return self.username !== "" && name.toLowerCase() === self.username.toLowerCase();
}

/** Stands where our own name stood, until the space around it is closed. A person's text holds no NUL. */
const gap = "\0";

/**
 * What a person wrote: without our own name, commands without the bot behind them (`/stop@our_bot` is `/stop`), and
 * links with their addresses. `/start`, which Telegram sends when somebody opens the chat, asks for help.
 */
export function readableText({ text, entities }: TelegramMessage, self: Self): string {
  let at = 0;
  let out = "";
  for (const entity of entities.toSorted((a, b) => a.offset - b.offset)) {
    // Those within another one are part of what was said already.
    if (entity.offset < at || entity.offset + entity.length > text.length) continue;
    const said = sayEntity(entity, text, self);
    if (said === null) continue;
    out += text.slice(at, entity.offset) + said;
    at = entity.offset + entity.length;
  }
  out += text.slice(at);
  const read = out.includes(gap) ? closeGaps(out) : out;
  return /^\/start$/i.test(read.trim()) ? "/help" : read;
}

/** Null: as it stands. */
function sayEntity(entity: Entity, text: string, self: Self): string | null {
  const said = textOf(text, entity);
  switch (entity.type) {
    case "mention":
    case "text_mention":
      return isOurs(entity, text, self) ? gap : null;
    case "bot_command":
      return isOurs(entity, text, self) ? (said.split("@", 1)[0] ?? said) : null;
    case "text_link": {
      const url = entity.url ?? "";
      return url === "" || url === said || url === `${said}/` ? null : `${said} (${url})`;
    }
    default:
      return null;
  }
}

/** "hey @bot, look" is "hey, look", "where, @bot?" is "where?", and "@bot: look" is "look". */
function closeGaps(text: string): string {
  return text
    .replaceAll(new RegExp(`^(\\s*${gap}\\s*)+[:,]?\\s*`, "g"), "")
    .replaceAll(new RegExp(`,?[ \\t]*${gap}`, "g"), "")
    .trim();
}

const mostQuoted = 1_000;

/**
 * The text of a message that answers another person's, with what it answers above it: "@bot what about this?" says
 * nothing by itself. Its author is named, and marked if agents may not be spoken to by them.
 */
export function withQuoted(
  text: string,
  message: TelegramMessage,
  self: Self,
  isAllowed: (id: string) => boolean,
) {
  const { answers, person } = message;
  const quoted = answers?.text.trim() ?? "";
  const author = answers?.person ?? null;
  // What we or they said stands in the memory of the place.
  if (quoted === "" || author?.id === self.id || author?.id === person.id) return text;
  const name = (author && nameOf(author)) ?? "somebody";
  const mark = author && isAllowed(String(author.id)) ? "" : " (not on the allow list)";
  const cut = quoted.length > mostQuoted ? `${quoted.slice(0, mostQuoted).toWellFormed()}…` : quoted;
  const lines = `${name}${mark}: ${cut}`.split("\n").map((line) => `> ${line}`);
  return `${lines.join("\n")}\n\n${text}`;
}
