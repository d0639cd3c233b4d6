import type { ModelMessage, UserContent } from "ai";
import type { HistoryItem, MessagePart, RunContext } from "../agent.ts";
import { turnPrompt } from "../turn-prompt.ts";

/** Kinds of files that models commonly read. Others are named in the text, so that the model can say what it cannot see. */
const readableFile = /^(image\/(png|jpeg|gif|webp)|application\/pdf|audio\/(wav|mpeg|mp3))$/;
const textFile = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|typescript)$)/;

type Content = Exclude<UserContent, string>;

/**
 * The messages of a model call: the short memory, oldest first, then the turn with `reply_to=` and the echo of its
 * address. `preface` is put before the turn's text (for agents whose instructions are not ours to extend).
 *
 * Where several people speak, each text of a person begins with the speaker's name.
 */
export function buildMessages(ctx: RunContext, preface = ""): ModelMessage[] {
  const nameOf = speakers(ctx);
  const text = turnPrompt({ text: nameOf(ctx.sender.id) + ctx.text, echo: ctx.echo }, preface);
  return [...ctx.history.flatMap((item) => ofHistory(item, nameOf)), userMessage(text, ctx.message.parts)];
}

/** A message that came while the run was going, for the next model call. */
export function steeringMessage(message: { text: string; parts: readonly MessagePart[] }): ModelMessage {
  return userMessage(message.text, message.parts);
}

function ofHistory(item: HistoryItem, nameOf: (sender: string | null) => string): ModelMessage[] {
  if (item.role === "user") return [userMessage(nameOf(item.sender) + item.text, item.parts)];
  // Some providers refuse an assistant's message without text; such a message tells the model nothing either.
  return item.text === "" ? [] : [{ role: "assistant", content: item.text }];
}

/** Gives the prefix of a speaker's text: a name and a colon where more than one person speaks, else nothing. */
function speakers(ctx: RunContext): (sender: string | null) => string {
  const { id, name } = ctx.sender;
  const people = new Set([id]);
  for (const item of ctx.history) {
    if (item.role === "user" && item.sender !== null) people.add(item.sender === name ? id : item.sender);
  }
  if (people.size < 2) return () => "";
  return (sender) => {
    if (sender === null) return "";
    const label = sender === id || sender === name ? (name ?? id) : sender;
    return `${label.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 80)}: `;
  };
}

function userMessage(text: string, parts: readonly MessagePart[]): ModelMessage {
  const beside = parts.flatMap((part) => besideText(part));
  const notes = beside.filter((part) => part.type === "text").map((part) => part.text);
  const files = beside.filter((part) => part.type === "file");
  const whole = [text, ...notes].filter((piece) => piece !== "").join("\n\n");
  // One plain text where it can be: simple servers refuse a message that is a list of parts.
  if (files.length === 0) return { role: "user", content: whole };
  return { role: "user", content: [{ type: "text", text: whole }, ...files] };
}

/** A part that is not in the message's text already, as the model is given it. */
function besideText(part: MessagePart): Content {
  switch (part.type) {
    case "text":
      return [];
    case "data":
      return [{ type: "text", text: `[data ${part.name}] ${JSON.stringify(part.value)}` }];
    case "citation":
      return [{ type: "text", text: `[source] ${part.title ?? ""} ${part.url}`.replace(/ {2,}/g, " ") }];
    case "file":
      return [ofFile(part)];
  }
}

/**
 * A file whose bytes are in the message (a data URL, RFC 2397) is given as a file or as its text. A file elsewhere is
 * named and never fetched: the address came from outside, and the gateway does not go where strangers point.
 */
function ofFile(part: Extract<MessagePart, { type: "file" }>): Content[number] {
  const name = part.filename ?? "file";
  const mediaType = part.mediaType.toLowerCase().split(";", 1)[0]!.trim();
  const bytes = bytesOfDataUrl(part.url);
  if (!bytes) return { type: "text", text: `[file ${name}, ${mediaType}] ${part.url.slice(0, 2000)}` };
  if (readableFile.test(mediaType)) {
    return { type: "file", mediaType, data: bytes, ...(part.filename ? { filename: part.filename } : {}) };
  }
  if (textFile.test(mediaType))
    return { type: "text", text: `[file ${name}, ${mediaType}]\n${bytes.toString("utf8")}` };
  return {
    type: "text",
    text: `[file ${name}, ${mediaType}, ${bytes.length} bytes: a kind that you cannot read]`,
  };
}

function bytesOfDataUrl(url: string): Buffer | null {
  const match = /^data:([^,]*),/i.exec(url);
  if (!match) return null;
  const data = url.slice(match[0].length);
  if (/;\s*base64\s*$/i.test(match[1]!)) return Buffer.from(data, "base64");
  try {
    return Buffer.from(decodeURIComponent(data), "utf8");
  } catch {
    return Buffer.from(data, "latin1");
  }
}
