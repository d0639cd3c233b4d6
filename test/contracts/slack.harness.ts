/** Slack, as the contract of channels needs it: the emulator, with `channel_type` in its events as Slack has it. */
import { slack } from "../../src/channels/slack/index.ts";
import { parseAddress } from "../../src/address/address.ts";
import { errorCodes, type ErrorCode } from "../../src/kernel/error-codes.ts";
import { type Fault, refusal } from "../support/slack/faults.ts";
import { type Delivered, SlackTown } from "../support/slack/slack-town.ts";
import type { PeerAnswer } from "../support/webhook-peer.ts";
import type { Store } from "./channel.contract.ts";
import {
  type Acknowledged,
  type ChannelHarness,
  formatOf,
  Gates,
  maxText,
  nextId,
  type PlatformPeer,
  type Post,
  startGateway,
} from "./channels.harness.ts";

export async function slackHarness(
  store: Store,
  options: { preview?: boolean } = {},
): Promise<ChannelHarness> {
  const gates = new Gates();
  const town = await SlackTown.start();
  town.channelTypes = true;
  for (const person of ["u1", "u2", "stranger"]) town.addUser(person);
  const channel = slack({
    account: town.team,
    botToken: town.bot.token,
    signingSecret: town.secret,
    apiUrl: town.apiUrl,
    allow: { users: ["u1", "u2"], channels: "*", dms: true },
    answerIn: "conversation",
    listen: "all",
    preview: options.preview ?? false,
    maxText,
    timeoutMs: 400,
  });
  const { gateway, close } = await startGateway(store, [channel], gates);
  town.deliver = (request) => gateway.fetch(request);
  const seen = (address: string): Post[] => {
    const { conversation, thread } = parseAddress(address);
    return town.posts(conversation, thread).map(({ id, text }) => ({ id, text }));
  };
  /** The ts of messages that were said under an id of the test's own. */
  const said = new Map<string, Promise<string>>();
  const say: ChannelHarness["say"] = async ({
    conversation,
    kind = "dm",
    thread,
    text = "",
    id = nextId(),
    sender = "u1",
    files = [],
  }) => {
    town.addConversation(conversation, kind);
    if (thread !== undefined) town.addThread(conversation, thread);
    const key = JSON.stringify([conversation, id]);
    const first = said.get(key);
    if (first) {
      const again = (event: Record<string, unknown>) => ({ ...event, text });
      return acknowledged(await town.redeliver(conversation, await first, again));
    }
    const more = thread === undefined ? {} : { thread_ts: thread };
    const post =
      files.length > 0
        ? upload(town, { sender, conversation, text, files })
        : town.as(sender).chat.postMessage({ channel: conversation, text, ...more });
    said.set(
      key,
      post.then(({ ts }) => ts ?? ""),
    );
    return acknowledged(await town.answerTo(conversation, (await post).ts ?? ""));
  };
  return {
    gateway,
    gates,
    peer: slackPlatform(town),
    denial: "the sender is not in allow.users",
    lacks: {},
    address: (conversation, thread) => formatOf("slack", conversation, thread, town.team),
    say,
    posts: (address) => Promise.resolve(seen(address)),
    async untilPosts(address, count) {
      await town.until(`${count} posts at ${address}`, () => seen(address).length >= count);
      return seen(address);
    },
    async echo(address, post) {
      const { conversation } = parseAddress(address);
      const own = await town.redeliver(conversation, post.id);
      const bot = await town.redeliver(conversation, post.id, (event) => ({
        ...event,
        ts: `${post.id}1`,
        user: "u1",
        bot_id: "BOTHER",
      }));
      if (!("ignored" in own.body) || !("ignored" in bot.body))
        throw new Error("A post of a bot was taken in.");
    },
    async close() {
      await close();
      await town.stop();
    },
  };
}

/** As people do: the files first, then one message with all of them. */
async function upload(
  town: SlackTown,
  said: {
    sender: string;
    conversation: string;
    text: string;
    files: NonNullable<Parameters<ChannelHarness["say"]>[0]["files"]>;
  },
): Promise<{ ts?: string }> {
  const { sender, conversation, text, files } = said;
  await town.as(sender).filesUploadV2({
    channel_id: conversation,
    initial_comment: text,
    file_uploads: files.map(({ url, filename }) => ({
      file: Buffer.from(url.slice(url.indexOf(",") + 1), "base64"),
      filename,
    })),
  });
  const there = town.tables.messages.all().filter((one) => one.channel_id === conversation);
  return { ts: there.findLast((one) => one.user === sender)?.ts ?? "" };
}

/**
 * Slack reads only the status, and repeats whatever is not 200. What the contract asks for by status stands in the body
 * of the acknowledgement.
 */
function acknowledged({ status, body }: Delivered): Acknowledged {
  const answer = body as unknown as Acknowledged["body"] & { ignored?: string };
  if (status !== 200) return { status, body: answer };
  const { ignored } = answer;
  if (ignored !== undefined && ignored in errorCodes) {
    return { status: errorCodes[ignored as ErrorCode].status, body: { ...answer, code: ignored } };
  }
  return { status: answer.run === null || answer.run === undefined ? 200 : 202, body: answer };
}

const sends = "chat.postMessage chat.update";

function slackPlatform(town: SlackTown): PlatformPeer {
  const attemptsOf = (fits: (params: URLSearchParams) => boolean) =>
    town.faults.of("chat.postMessage").filter(({ params }) => fits(params));
  const payloadOf = (params: URLSearchParams): { op?: string; delivery?: string } => {
    const metadata = JSON.parse(params.get("metadata") ?? "{}") as { event_payload?: { op?: string } };
    return metadata.event_payload ?? {};
  };
  return {
    dedupes: false,
    once: (...answers) => Promise.resolve(town.faults.once(sends, ...answers.map(toFault))),
    mute: (isMute) =>
      Promise.resolve(
        town.faults.always(
          "conversations.history conversations.replies",
          isMute ? refusal("missing_scope", { needed: "channels:history" }) : null,
        ),
      ),
    refuse() {
      town.faults.once(sends, refusal("msg_too_long"));
      return Promise.resolve(["msg_too_long"]);
    },
    gone(conversation) {
      town.addConversation(conversation, "private");
      town.removeBot(conversation);
      return Promise.resolve(["the bot is not in this channel", "not_in_channel"]);
    },
    kill: () => Promise.resolve(town.faults.down(true)),
    restart: () => Promise.resolve(town.faults.down(false)),
    sync: () => town.quiet(),
    count: () => town.posts().length,
    attempts: (conversation) =>
      attemptsOf((params) => params.get("channel") === conversation).map(({ params, token }) => ({
        key: payloadOf(params).op,
        signed: token === town.bot.token,
      })),
    sends: (delivery) => attemptsOf((params) => payloadOf(params).delivery === delivery).length,
  };
}

function toFault(answer: PeerAnswer): Fault {
  switch (answer.kind) {
    case "status": {
      const headers: Record<string, string> =
        answer.retryAfter === undefined ? {} : { "retry-after": answer.retryAfter };
      return { kind: "answer", status: answer.status, headers, body: answer.body };
    }
    case "hang":
    case "close":
      return { kind: answer.kind, done: false };
    case "accept-hang":
      return { kind: "hang", done: true };
    case "accept-close":
      return { kind: "close", done: true };
    case "accept-no-id":
      return { kind: "no-receipt", done: true };
  }
}
