import { z } from "zod";
import { formatAddress, parentOf, type Address } from "../../address/address.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { IncomingMessage } from "../channel.ts";
import { readParts } from "./read-parts.ts";
import type { WebhookSettings } from "./webhook-options.ts";

/** Bytes of one message. */
export const bodyLimit = 1_048_576;

const nul = "may not hold the character NUL (U+0000), which cannot be stored";
const text = (most: number) =>
  z
    .string({ error: "must be a text" })
    .max(most, { error: `may have ${most} characters at most` })
    .refine((value) => !value.includes("\0"), { error: nul })
    .transform((value) => value.toWellFormed());
const id = text(500).refine((value) => value !== "", { error: "must not be empty" });
const list = z
  .array(z.unknown(), { error: "must be a list" })
  .max(100, { error: "may have 100 items at most" });

const shape = z.object(
  {
    id,
    conversation: z.object(
      {
        id,
        kind: z.enum(["dm", "group", "channel"], { error: "must be dm, group or channel" }).optional(),
        title: text(1_000).nullish(),
      },
      { error: "must be an object with an id" },
    ),
    thread: id.nullish(),
    sender: z.object(
      { id, name: text(1_000).nullish(), bot: z.boolean({ error: "must be true or false" }).optional() },
      { error: "must be an object with an id" },
    ),
    text: text(bodyLimit).default(""),
    parts: list.default([]),
    files: list.default([]),
    /** The other program says that the agent was named. Nothing depends on it: whom it sends for is its choice. */
    mentioned: z.boolean({ error: "must be true or false" }).optional(),
  },
  { error: "must be an object" },
);

export type ReceivedMessage = z.infer<typeof shape>;

/**
 * Reads the body of a message.
 * @throws WaybillError `invalid_json`, `invalid_request` with `details.issues`
 */
export function parseMessage(body: Uint8Array): ReceivedMessage {
  const read = shape.safeParse(parseJson(body));
  if (read.success) return read.data;
  throw invalid(read.error.issues.map(({ path, message }) => ({ field: path.join("."), rule: message })));
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new WaybillError("invalid_json", "The body is not JSON in UTF-8.");
  }
}

function invalid(issues: { field: string; rule: string }[]): WaybillError {
  const said = issues.map(({ field, rule }) => (field === "" ? `The body ${rule}` : `${field}: ${rule}`));
  return new WaybillError("invalid_request", `${said.join("; ")}.`, { issues });
}

/** True for what we or another program said: answering it would go round in circles. */
export function isOwn(message: ReceivedMessage, settings: WebhookSettings): boolean {
  return message.sender.bot === true || message.sender.id === settings.self;
}

/**
 * The message as the inbox takes it.
 * @throws WaybillError `invalid_address` for ids that no address can hold, `invalid_request` for one that says nothing
 */
export function toIncoming(message: ReceivedMessage, settings: WebhookSettings): IncomingMessage {
  const { conversation, sender } = message;
  const address: Address = {
    channel: "webhook",
    account: settings.account,
    conversation: conversation.id,
    thread: message.thread ?? null,
  };
  const { parts, leftOut } = readParts(message.text, message.parts, message.files);
  const said = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const isSilent = (message.text + said).trim() === "" && parts.every((part) => part.type === "text");
  if (isSilent && leftOut.length === 0) {
    throw invalid([{ field: "text", rule: "must not be empty where there are no parts or files" }]);
  }
  return {
    place: {
      address: formatAddress(address),
      parent: address.thread === null ? null : formatAddress(parentOf(address)),
      channel: "webhook",
      account: settings.account,
      kind: conversation.kind ?? settings.kind,
      title: conversation.title ?? null,
    },
    id: message.id,
    sender: { id: sender.id, name: sender.name ?? null },
    principal: null,
    text: message.text === "" ? said : message.text,
    parts,
    ...(leftOut.length > 0 ? { leftOut } : {}),
  };
}
