import { z } from "zod";
import { formatAddress } from "../../address/address.ts";
import { readReplies, readMessage, readRunMessages } from "../../deliveries/read-messages.ts";
import { readForegroundRun } from "../../ledger/read-foreground.ts";
import { readRun } from "../../ledger/read-runs.ts";
import type { MessagePart } from "../../ledger/run.ts";
import type { Chunk } from "../../streams/stream.ts";
import { readAnswer } from "../../turns/idempotency.ts";
import type { Accepted, IncomingMessage } from "../../turns/incoming.ts";
import { invalidRequest } from "../body.ts";
import { chatChunks } from "../chat-chunks.ts";
import { answerChunks } from "../closed-stream.ts";
import { localeOf, operator, type HttpContext } from "../context.ts";
import type { HttpPorts } from "../ports.ts";
import { json, route, shortText, type Routes } from "../route.ts";
import type { SseServer } from "../sse.ts";
import { openSource } from "../stream-source.ts";
import { toWireMessage } from "../wire.ts";
import { messagePart, textOf, webAddress, webPlace } from "./messages.ts";

/**
 * What `useChat` of the AI SDK 7 speaks (`DefaultChatTransport`): a chat is a web DM. Of what the client sends only the
 * last message of the person counts; the history is ours.
 */

const uiMessage = z.looseObject({
  id: shortText(200),
  role: z.string(),
  parts: z.array(z.looseObject({ type: z.string() })).max(1_000),
});

const chatBody = z
  .looseObject({
    id: shortText(512),
    messages: z.array(uiMessage).optional(),
    message: uiMessage.optional(),
    trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
    messageId: z.string().nullish(),
  })
  .refine((body) => body.messages !== undefined || body.message !== undefined, {
    path: ["messages"],
    message: "is missing",
  });

const chatParams = z.object({ id: shortText(512) });

export function chatRoutes(routes: Routes, ports: HttpPorts, sse: SseServer): void {
  route(
    routes,
    {
      method: "post",
      path: "/api/chat",
      summary: "The stock client of the AI SDK: sends a message and streams its answer.",
      body: chatBody,
      answers: { 200: { description: "A UI message stream.", type: "text/event-stream" } },
      errors: ["idempotency_conflict"],
    },
    async (c, { body }) => {
      const accepted = await ports.inbox.accept(await toIncoming(ports, body, c.get("principal")));
      return answerAccepted(c, ports, sse, accepted);
    },
  );
  route(
    routes,
    {
      method: "get",
      path: "/api/chat/{id}/stream",
      summary: "Resumes the answer that is being given in a chat, from its start.",
      params: chatParams,
      answers: {
        200: { description: "A UI message stream.", type: "text/event-stream" },
        204: { description: "Nothing runs there." },
      },
    },
    async (c, { params }) => {
      const lane = formatAddress(webAddress(params.id));
      const run = await readForegroundRun(ports.db, ports.tenant, lane);
      if (!run) return new Response(null, { status: 204, headers: c.get("headers") });
      return answerStream(c, ports, sse, run.stream);
    },
  );
  route(
    routes,
    {
      method: "post",
      path: "/api/chat/{id}/stop",
      summary: "Stops what runs in a chat.",
      params: chatParams,
      answers: { 200: { description: "The runs that were asked to end." } },
    },
    async (c, { params }) =>
      json(c, 200, { stopped: await ports.stopPlace(formatAddress(webAddress(params.id))) }),
  );
}

async function toIncoming(
  ports: HttpPorts,
  body: z.output<typeof chatBody>,
  principal: string,
): Promise<IncomingMessage> {
  const asked = body.message ?? body.messages?.findLast((message) => message.role === "user");
  if (!asked) throw invalidRequest([{ field: "messages", rule: "has no message of the role user" }]);
  const address = webAddress(body.id);
  const place = await webPlace(ports, address, undefined);
  const base = { place, sender: { id: operator, name: null }, principal };
  if (body.trigger === "regenerate-message") {
    const known = await knownMessage(ports, place.address, asked.id);
    const id = ports.ids.next("msg");
    if (known) {
      return { ...base, id, text: known.text, parts: known.parts, regenerate: true, standing: known.id };
    }
  }
  const parts = asked.parts.flatMap(toPart);
  return { ...base, id: asked.id, text: textOf(parts), parts };
}

/** What a message of this chat said when it came in; what a client says of it later does not count. */
async function knownMessage(ports: HttpPorts, address: string, id: string) {
  const before = await readAnswer<Accepted>(ports.db, ports.tenant, { scope: `message:${address}`, key: id });
  // A thread of the chat shares its keys.
  if (before?.address !== address) return null;
  return readMessage(ports.db, ports.tenant, before.message);
}

/** A part of a UI message as one of ours; what is no content (steps, tools) is none. */
function toPart(part: Record<string, unknown>, index: number): MessagePart[] {
  const type = String(part["type"]);
  const candidate = type.startsWith("data-")
    ? { type: "data", name: type.slice("data-".length), value: part["data"], id: part["id"] }
    : type === "file"
      ? { type, mediaType: part["mediaType"], url: part["url"], filename: part["filename"] }
      : type === "text"
        ? { type, text: part["text"] }
        : null;
  if (candidate === null) return [];
  const result = messagePart.safeParse(candidate);
  if (result.success) return [result.data as MessagePart];
  throw invalidRequest(
    result.error.issues.map((issue) => ({
      field: `messages.parts[${index}].${issue.path.join(".")}`,
      rule: issue.message,
    })),
  );
}

/**
 * The answer as a UI message stream. Seen before: the stream that goes on is joined, or what was committed is told
 * again; nothing is generated twice. A reserved word, a cap and the acknowledgement of a job are short messages.
 */
async function answerAccepted(
  c: HttpContext,
  ports: HttpPorts,
  sse: SseServer,
  accepted: Accepted,
): Promise<Response> {
  const { db, tenant } = ports;
  if (accepted.stream !== null && accepted.run !== null) {
    const run = await readRun(db, tenant, accepted.run);
    if (run?.foreground !== false) return answerStream(c, ports, sse, accepted.stream);
    const said = await readRunMessages(db, tenant, accepted.run);
    return answerPosts(c, ports, sse, accepted, said.slice(0, 1));
  }
  return answerPosts(c, ports, sse, accepted, await readReplies(db, tenant, accepted.turn));
}

function answerPosts(
  c: HttpContext,
  ports: HttpPorts,
  sse: SseServer,
  accepted: Accepted,
  posts: Awaited<ReturnType<typeof readReplies>>,
): Response {
  const locale = localeOf(c, ports.locale);
  const messages = posts.map((post) => toWireMessage(post, locale));
  const chunks: Chunk[] = [
    { type: "start", messageId: messages[0]?.id ?? accepted.turn },
    ...messages.flatMap((message) => answerChunks(message.id, message as never)),
    { type: "finish" },
  ];
  return sse.answer(c, () => oneFrame(chunks), chatHeaders);
}

async function* oneFrame(chunks: readonly Chunk[]): AsyncGenerator<string> {
  yield chunks.map(chunkFrame).join("") + doneFrame;
}

async function answerStream(
  c: HttpContext,
  ports: HttpPorts,
  sse: SseServer,
  stream: string,
): Promise<Response> {
  const source = await openSource(ports, stream, localeOf(c, ports.locale));
  const reader = `chat:${c.get("request")}`;
  return sse.answer(c, (signal) => streamFrames(ports, source.read({ signal, reader }), stream), chatHeaders);
}

async function* streamFrames(
  ports: HttpPorts,
  batches: ReturnType<Awaited<ReturnType<typeof openSource>>["read"]>,
  stream: string,
): AsyncGenerator<string> {
  const toChunks = chatChunks(stream);
  try {
    for await (const { events, ended } of batches) {
      let frame = "";
      for (const event of events) for (const chunk of toChunks(event)) frame += chunkFrame(chunk);
      if (ended) frame += doneFrame;
      if (frame !== "") yield frame;
      if (ended) return;
    }
  } catch (error) {
    ports.log.warn({ stream, error: String(error) }, "a chat stream broke off");
    yield chunkFrame({
      type: "error",
      errorText: "The stream broke off; what was committed is in the messages.",
    });
  }
}

const doneFrame = "data: [DONE]\n\n";

function chunkFrame(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The header by which the AI SDK knows its protocol. */
const chatHeaders = { "x-vercel-ai-ui-message-stream": "v1" };
