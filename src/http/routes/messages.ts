import { z } from "zod";
import { formatAddress, parseAddress, type Address } from "../../address/address.ts";
import type { ConversationKind } from "../../address/kind.ts";
import { placeOf } from "../../deliveries/plan-delivery.ts";
import type { Place } from "../../deliveries/post-message.ts";
import { readConversationKind } from "../../deliveries/read-conversations.ts";
import { listMessages } from "../../deliveries/read-messages.ts";
import type { MessagePart } from "../../ledger/run.ts";
import type { IncomingMessage } from "../../turns/incoming.ts";
import type { PostMessage, WireAccepted } from "../api.ts";
import { invalidRequest } from "../body.ts";
import { localeOf, operator } from "../context.ts";
import { pageOf } from "../paging.ts";
import type { HttpPorts } from "../ports.ts";
import { json, limitQuery, route, shortText, type Routes } from "../route.ts";
import { toWireMessage } from "../wire.ts";

const fileUrl = z
  .string()
  .refine(
    (url) => /^data:[^,]*,/i.test(url) || (/^https?:\/\//i.test(url) && URL.canParse(url)),
    "is a data: URL, or a link that begins with http:// or https://",
  );

/** Part of a message, as it is stored and as agents are given it. */
export const messagePart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("file"),
    mediaType: shortText(200),
    url: fileUrl,
    filename: shortText(255).optional(),
  }),
  z.strictObject({
    type: z.literal("data"),
    name: shortText(100),
    value: z.unknown(),
    id: shortText(200).optional(),
  }),
  z.strictObject({ type: z.literal("citation"), url: fileUrl, title: shortText(500).optional() }),
]);

const postBody = z
  .strictObject({
    conversation: shortText(512).refine(
      (id) => !id.startsWith("web:"),
      "is an id of your choice, not an address; for web:main/general write general",
    ),
    kind: z.enum(["dm", "channel"]).optional(),
    thread: shortText(512).optional(),
    sender: z.strictObject({ id: shortText(200), name: shortText(200).optional() }).optional(),
    text: z.string().optional(),
    parts: z.array(messagePart).max(100, "has at most 100 parts").optional(),
    id: shortText(200).optional(),
    agent: shortText(64).optional(),
  })
  .refine((body) => body.text !== undefined || body.parts !== undefined, {
    path: ["text"],
    message: "is missing; send text or parts",
  });

/** The one account of the web channel, on which everything that comes in here is said. */
export const webAccount = "main";

export function webAddress(conversation: string, thread: string | null = null): Address {
  return { channel: "web", account: webAccount, conversation, thread };
}

/**
 * The place of a web conversation. Its kind is what was said of it last: a message that says nothing leaves it, and a
 * new one is a DM.
 */
export async function webPlace(
  ports: HttpPorts,
  address: Address,
  kind: "dm" | "channel" | undefined,
): Promise<Place> {
  const place = placeOf(address, kind ?? "unknown");
  if (kind !== undefined) return place;
  const known: ConversationKind = await readConversationKind(ports.db, ports.tenant, place);
  return { ...place, kind: known === "unknown" ? "dm" : known };
}

/** The text of a message: its text parts. @throws WaybillError `invalid_request` if there is nothing in it */
export function textOf(parts: readonly MessagePart[]): string {
  const text = parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("\n");
  if (text.trim() !== "" || parts.some((part) => part.type !== "text")) return text;
  throw invalidRequest([{ field: "text", rule: "is empty; say something, or send a file" }]);
}

export function messageRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "post",
      path: "/v1/messages",
      summary:
        "Says something on the web channel. The same id again gives the same answer, and nothing twice.",
      body: postBody,
      answers: { 202: { description: "Turn and run are committed; the answer comes on the stream." } },
      errors: ["unknown_agent", "idempotency_conflict", "sender_not_allowed"],
    },
    async (c, { body }) => {
      const accepted = await ports.inbox.accept(
        await toIncoming(ports, body as PostMessage, c.get("principal")),
      );
      const { repeated, turn, run, stream, address, message, outcome } = accepted;
      const answer: WireAccepted = { turn, run, stream, address, message, outcome };
      return json(c, 202, answer, repeated ? { "idempotent-replay": "true" } : {});
    },
  );
  route(
    routes,
    {
      method: "get",
      path: "/v1/messages",
      summary: "What was said at a place, oldest first.",
      query: z.strictObject({
        address: z.string(),
        limit: limitQuery,
        next: z
          .string()
          .regex(/^\d{1,15}$/, "is not the next of a page of this list")
          .optional(),
        locale: z.string().optional(),
      }),
      answers: { 200: { description: "A page of messages." } },
      errors: ["invalid_address"],
    },
    async (c, { query }) => {
      const address = formatAddress(parseAddress(query.address));
      const after = Number(query.next ?? 0);
      const rows = await listMessages(ports.db, ports.tenant, address, after, query.limit + 1);
      const locale = localeOf(c, ports.locale);
      const page = pageOf(
        rows,
        query.limit,
        (row) => String(row.postSeq),
        (row) => toWireMessage(row, locale),
      );
      return json(c, 200, page);
    },
  );
}

async function toIncoming(ports: HttpPorts, body: PostMessage, principal: string): Promise<IncomingMessage> {
  const address = webAddress(body.conversation, body.thread ?? null);
  const given = (body.parts ?? []) as MessagePart[];
  const parts: MessagePart[] =
    body.text === undefined ? given : [{ type: "text", text: body.text }, ...given];
  return {
    place: await webPlace(ports, address, body.kind),
    id: body.id ?? ports.ids.next("msg"),
    sender: body.sender
      ? { id: body.sender.id, name: body.sender.name ?? null }
      : { id: operator, name: null },
    principal,
    text: textOf(parts),
    parts,
    ...(body.agent === undefined ? {} : { agent: body.agent }),
  };
}
