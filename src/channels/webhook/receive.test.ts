import { beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { signedRequest, type SignOptions } from "../../../test/support/webhook-peer.ts";
import { manualClock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { Channel, IncomingMessage } from "../channel.ts";
import { webhook, type WebhookOptions } from "./index.ts";

const url = "http://127.0.0.1:8787/channels/webhook";
const secret = "a secret";
const clock = manualClock();
const now = Math.floor(clock.now() / 1_000);

const good = {
  id: "m1",
  conversation: { id: "room", kind: "channel", title: "Room" },
  sender: { id: "u1", name: "Ann" },
  text: "hello",
};

let accepted: IncomingMessage[];
beforeEach(() => (accepted = []));

function channel(more: Partial<WebhookOptions> = {}, alone = true): Channel {
  const accept = (incoming: IncomingMessage) => {
    accepted.push(incoming);
    const { address } = incoming.place;
    const outcome = incoming.text === "status" ? "replied" : "queued";
    const ids = {
      turn: "turn_1",
      run: outcome === "queued" ? "run_1" : null,
      stream: null,
      message: "msg_1",
    };
    return Promise.resolve({ ...ids, address, outcome, repeated: false } as const);
  };
  const allow = { senders: ["u1"], conversations: ["room"] };
  const factory = webhook({ url: "http://127.0.0.1:9", secret, allow, ...more });
  return factory.connect(channelPorts({ inbox: { ...channelPorts().inbox, accept }, clock, alone }));
}

const post = (body: unknown, how: SignOptions = {}, to = channel()) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return to.handle!(signedRequest(url, secret, text, { timestamp: now, ...how }));
};

async function codeOf(answer: Promise<Response>): Promise<string> {
  try {
    return String((await answer).status);
  } catch (thrown) {
    if (thrown instanceof WaybillError) return thrown.code;
    throw thrown;
  }
}

describe("a message", () => {
  test("is handed to the inbox, and acknowledged with what came of it", async () => {
    const answer = await post({ ...good, thread: "t/1", mentioned: true });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ turn: "turn_1", run: "run_1", address: "webhook:main/room/t%2F1" });
    expect(accepted).toEqual([
      {
        place: {
          address: "webhook:main/room/t%2F1",
          parent: "webhook:main/room",
          channel: "webhook",
          account: "main",
          kind: "channel",
          title: "Room",
        },
        id: "m1",
        sender: { id: "u1", name: "Ann" },
        principal: null,
        text: "hello",
        parts: [{ type: "text", text: "hello" }],
      },
    ]);
  });

  test("that was answered at once is acknowledged with 200 and no run", async () => {
    const answer = await post({ ...good, text: "status" });
    expect([answer.status, await answer.json()]).toMatchObject([200, { run: null }]);
  });

  test("whose conversation does not say how wide it is takes the setting, or is unknown", async () => {
    const body = { ...good, conversation: { id: "room" } };
    await post(body);
    await post(body, {}, channel({ kind: "dm" }));
    expect(accepted.map(({ place }) => place.kind)).toEqual(["unknown", "dm"]);
  });

  test("with files keeps those that an agent can be given, and names the others", async () => {
    const files = [{ url: "data:text/plain,hi", name: "hi.txt" }, { url: "http://example.org/a.png" }];
    await post({ ...good, text: "", files });
    expect(accepted[0]).toMatchObject({
      text: "",
      parts: [{ type: "file", mediaType: "text/plain", filename: "hi.txt" }],
      leftOut: [{ name: "a.png", reason: "parts.reason.link" }],
    });
  });

  test.each([
    ["of a program", { id: "u1", bot: true }],
    ["of ourselves", { id: "us" }],
  ])("%s is ignored, whoever may speak", async (_name, sender) => {
    const to = channel({ self: "us", allow: { senders: "*", conversations: "*" } });
    const answer = await post({ ...good, sender }, {}, to);
    expect([answer.status, await answer.json()]).toEqual([200, { ignored: "the sender is a program" }]);
    expect(accepted).toEqual([]);
  });

  test.each<[string, string, unknown]>([
    ["no JSON", "invalid_json", "{"],
    ["no object", "invalid_request", "[]"],
    ["no id", "invalid_request", { ...good, id: undefined }],
    ["an empty id", "invalid_request", { ...good, id: "" }],
    ["no conversation", "invalid_request", { ...good, conversation: undefined }],
    [
      "an unknown kind of conversation",
      "invalid_request",
      { ...good, conversation: { id: "room", kind: "x" } },
    ],
    ["no sender", "invalid_request", { ...good, sender: undefined }],
    ["a text that is none", "invalid_request", { ...good, text: 7 }],
    ["nothing in it", "invalid_request", { ...good, text: " " }],
    ["a NUL in its text", "invalid_request", { ...good, text: "a\0b" }],
    ["a NUL in an id", "invalid_request", { ...good, sender: { id: "u\0" } }],
    ["half of a surrogate pair as an id", "202", { ...good, thread: "\ud800" }],
    [
      "a conversation that is too long",
      "invalid_request",
      { ...good, conversation: { id: "x".repeat(501) } },
    ],
  ])("with %s: %s", async (_name, code, body) => {
    expect(await codeOf(post(body))).toBe(code);
  });
});

describe("a request", () => {
  test.each<[string, string, SignOptions]>([
    ["signed with another secret", "invalid_signature", { signature: "v1=00" }],
    ["not signed", "invalid_signature", { signature: "" }],
    ["from six minutes ago", "invalid_signature", { timestamp: now - 301 }],
    ["from six minutes ahead", "invalid_signature", { timestamp: now + 302 }],
    ["from almost five minutes ago", "202", { timestamp: now - 299 }],
    ["for another account", "not_found", { account: "crm" }],
    ["that names the account", "202", { account: "main" }],
  ])("%s: %s", async (_name, code, how) => {
    expect(await codeOf(post(good, how))).toBe(code);
  });

  test("is not parsed before its signature is right", async () => {
    expect(await codeOf(post("{", { signature: "v1=00" }))).toBe("invalid_signature");
  });

  test("without a time that is one", async () => {
    const request = signedRequest(url, secret, "{}", { timestamp: Number.NaN });
    expect(await codeOf(channel().handle!(request))).toBe("invalid_signature");
  });

  test("whose body is replaced does not fit its signature", async () => {
    const { headers } = signedRequest(url, secret, JSON.stringify(good), { timestamp: now });
    const body = JSON.stringify({ ...good, text: "something else" });
    expect(await codeOf(channel().handle!(new Request(url, { method: "POST", headers, body })))).toBe(
      "invalid_signature",
    );
  });

  test("larger than 1 MiB", async () => {
    expect(await codeOf(post({ ...good, text: "x".repeat(1_048_577) }))).toBe("body_too_large");
  });

  test("that is no POST", async () => {
    expect(await codeOf(channel().handle!(new Request(url)))).toBe("method_not_allowed");
  });

  test("must name the account where there are several", async () => {
    expect(await codeOf(post(good, {}, channel({}, false)))).toBe("not_found");
    expect(await codeOf(post(good, { account: "main" }, channel({}, false)))).toBe("202");
  });
});

describe("the allow list", () => {
  const asked = (sender: string, conversation: string): IncomingMessage => ({
    place: {
      address: `webhook:main/${conversation}/t`,
      parent: `webhook:main/${conversation}`,
      channel: "webhook",
      account: "main",
      kind: "dm",
    },
    id: "m",
    sender: { id: sender, name: null },
    principal: null,
    text: "hi",
    parts: [],
  });
  const to = (conversation: string, account = "main") =>
    ({ channel: "webhook", account, conversation, thread: null }) as const;

  test("says who may speak where, and where may be posted", () => {
    const { authorize, sender } = channel();
    expect(authorize(asked("u1", "room"))).toBe(true);
    expect(authorize(asked("u2", "room"))).toBe("the sender is not in allow.senders");
    expect(authorize(asked("u1", "other"))).toBe("the conversation is not in allow.conversations");
    expect(sender.allows(to("room"), "dm")).toBe(true);
    expect(sender.allows(to("other"), "dm")).toBe("the conversation is not in allow.conversations");
    expect(sender.allows(to("room", "crm"), "dm")).not.toBe(true);
  });

  test("that is empty allows nobody, and a star allows all", () => {
    const nobody = channel({ allow: { senders: [], conversations: [] } });
    expect(nobody.authorize(asked("u1", "room"))).not.toBe(true);
    expect(nobody.sender.allows(to("room"), "dm")).not.toBe(true);
    const all = channel({ allow: { senders: "*", conversations: "*" } });
    expect(all.authorize(asked("anybody", "anywhere"))).toBe(true);
    expect(all.sender.allows(to("anywhere"), "dm")).toBe(true);
  });
});
