import { parseAddress, type Address } from "../../address/address.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { Channel, ChannelFactory, ChannelPorts, IncomingMessage } from "../channel.ts";
import { reconcile, send } from "./deliver.ts";
import { bodyLimit, isOwn, parseMessage, toIncoming } from "./receive.ts";
import { checkSignature, freshTimestamp } from "./signature.ts";
import { splitText } from "./split-text.ts";
import { readWebhookOptions, type WebhookOptions, type WebhookSettings } from "./webhook-options.ts";

/**
 * A channel to another program: its messages come in by signed POST at `/channels/webhook/{account}`, and what is said
 * there goes out by signed POST to `url`, under an idempotency key. docs/webhook.md has both formats.
 *
 *   webhook({ url: "https://example.org/waybill", secret, allow: { senders: ["u1"], conversations: "*" } })
 *
 * @throws WaybillError `config_invalid`
 */
export function webhook(options: WebhookOptions): ChannelFactory {
  const settings = readWebhookOptions(options);
  return { kind: "webhook", account: settings.account, connect: (ports) => connect(settings, ports) };
}

function connect(settings: WebhookSettings, ports: ChannelPorts): Channel {
  const { account, preview } = settings;
  return {
    kind: "webhook",
    account,
    authorize: (incoming) => authorize(settings, incoming),
    handle: (request) => receive(settings, ports, request),
    sender: {
      channel: "webhook",
      inTransaction: false,
      can: { edit: true, delete: true, preview },
      allows: (address) => allows(settings, address),
      split: (text) => splitText(text, settings.maxText),
      send: (op, signal) => send(op, settings, ports.clock, signal),
      reconcile: (op, signal) => reconcile(op, settings, ports.clock, signal),
    },
  };
}

function has(list: readonly string[] | "*", id: string): boolean {
  return list === "*" || list.includes(id);
}

function allows({ account, allow }: WebhookSettings, address: Address): true | string {
  if (address.account !== account) return `this channel has the account ${account}`;
  return has(allow.conversations, address.conversation) || "the conversation is not in allow.conversations";
}

function authorize({ allow }: WebhookSettings, { place, sender }: IncomingMessage): true | string {
  if (!has(allow.senders, sender.id)) return "the sender is not in allow.senders";
  const { conversation } = parseAddress(place.address);
  return has(allow.conversations, conversation) || "the conversation is not in allow.conversations";
}

/**
 * Takes one message in. Time, size and signature are checked before anything of it is read, and it is acknowledged
 * after the commit: 202 for a message that a run will answer, 200 for one that was answered or ignored.
 * @throws WaybillError `not_found`, `method_not_allowed`, `invalid_signature`, `body_too_large`, `invalid_json`,
 *   `invalid_request`, `invalid_address`, and what the inbox refuses with
 */
async function receive(settings: WebhookSettings, ports: ChannelPorts, request: Request): Promise<Response> {
  checkPath(settings, ports, request);
  const timestamp = freshTimestamp(request.headers, ports.clock.now());
  const body = await readBody(request);
  checkSignature(settings.secret, timestamp, request.headers, body);
  const message = parseMessage(body);
  if (isOwn(message, settings)) return Response.json({ ignored: "the sender is a program" });
  const { turn, run, address, outcome } = await ports.inbox.accept(toIncoming(message, settings));
  return Response.json({ turn, run, address }, { status: outcome === "queued" ? 202 : 200 });
}

/** Two accounts may have one secret, so where there are two, the path has to say which is meant. */
function checkPath(settings: WebhookSettings, ports: ChannelPorts, request: Request): void {
  const path = new URL(request.url).pathname;
  const found = /\/channels\/webhook(?:\/([^/]*))?\/?$/.exec(path);
  const named = found?.[1] ?? "";
  if (!found || (named === "" ? ports.alone !== true : named !== encodeURIComponent(settings.account))) {
    throw new WaybillError(
      "not_found",
      "There is no webhook at this path; it is /channels/webhook/{account}.",
    );
  }
  if (request.method === "POST") return;
  const said = `Messages are sent to ${path.slice(0, 200)} by POST.`;
  throw new WaybillError("method_not_allowed", said, { allow: ["POST"] });
}

async function readBody(request: Request): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  const body = announced > bodyLimit ? null : new Uint8Array(await request.arrayBuffer());
  if (body !== null && body.byteLength <= bodyLimit) return body;
  throw new WaybillError(
    "body_too_large",
    `The body is larger than ${bodyLimit} bytes. Send less, or send a file as a link.`,
    { limit: bodyLimit },
  );
}
