import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { WebhookPeer, type PeerAnswer } from "../../../test/support/webhook-peer.ts";
import { manualClock, systemClock, type Clock } from "../../kernel/clock.ts";
import type { OutgoingOp, Sender } from "../channel.ts";
import { webhook } from "./index.ts";

let peer: WebhookPeer;
let op: OutgoingOp;
let count = 0;

beforeAll(async () => {
  peer = await WebhookPeer.start();
});
afterAll(() => peer.stop());
beforeEach(() => {
  count += 1;
  op = {
    id: `op_${count}`,
    delivery: `dlv_${count}`,
    key: `op_${count}`,
    address: { channel: "webhook", account: "main", conversation: `c${count}`, thread: "t" },
    kind: "create",
    part: 0,
    text: "hello",
    target: null,
    run: "run_1",
    turn: "turn_1",
    attempt: 1,
  };
});

function senderTo(url: string, clock: Clock = systemClock): Sender {
  const allow = { senders: "*", conversations: "*" } as const;
  const ports = channelPorts({ clock });
  return webhook({ url, secret: peer.secret, allow }).connect(ports).sender;
}

const send = (one = op, signal = new AbortController().signal) => senderTo(peer.url).send(one, signal);
const look = (one = op) => senderTo(peer.url).reconcile(one, new AbortController().signal);
const last = () => peer.requests.at(-1)!;

async function sendTo(answer: PeerAnswer) {
  await peer.once("POST", answer);
  return send();
}

describe("a delivery", () => {
  test("goes out signed, under its idempotency key, and the post's id is the receipt", async () => {
    const sent = await send();
    await peer.sync();
    const [post] = peer.posts(`c${count}`, "t");
    expect(sent).toEqual({
      kind: "sent",
      receipt: { platformId: post?.id, permalink: `https://peer.example/${post?.id}` },
    });
    expect(last()).toMatchObject({ method: "POST", url: "/waybill", signed: true });
    expect(last().headers).toMatchObject({ "idempotency-key": op.key, "content-type": "application/json" });
    expect(JSON.parse(last().body)).toEqual({
      v: 1,
      delivery: op.delivery,
      op: op.id,
      key: op.key,
      kind: "create",
      account: "main",
      conversation: `c${count}`,
      thread: "t",
      text: "hello",
      part: 0,
      target: null,
      run: "run_1",
      turn: "turn_1",
    });
  });

  test("is edited and deleted by the post's id", async () => {
    const sent = await send();
    const target = sent.kind === "sent" ? sent.receipt.platformId : null;
    const edit = {
      ...op,
      kind: "edit",
      id: `${op.id}e`,
      key: `${op.key}e`,
      target,
      text: "changed",
    } as const;
    expect(await send(edit)).toMatchObject({ kind: "sent", receipt: { platformId: target } });
    await peer.sync();
    expect(peer.texts(`c${count}`, "t")).toEqual(["changed"]);
    expect(await send({ ...edit, kind: "delete", id: `${op.id}d`, key: `${op.key}d` })).toMatchObject({
      kind: "sent",
    });
    await peer.sync();
    expect(peer.texts(`c${count}`, "t")).toEqual([]);
  });

  test.each<[string, PeerAnswer, object]>([
    ["429 with seconds", { kind: "status", status: 429, retryAfter: "7" }, { kind: "retry", afterMs: 7_000 }],
    ["503 with seconds", { kind: "status", status: 503, retryAfter: "2" }, { kind: "retry", afterMs: 2_000 }],
    [
      "a wait of a year",
      { kind: "status", status: 429, retryAfter: "31536000" },
      { kind: "retry", afterMs: 86_400_000 },
    ],
    ["a wait that is nonsense", { kind: "status", status: 429, retryAfter: "soon" }, { kind: "retry" }],
    ["500", { kind: "status", status: 500 }, { kind: "retry" }],
    ["408", { kind: "status", status: 408 }, { kind: "retry" }],
    [
      "404",
      { kind: "status", status: 404, body: { reason: "no such room" } },
      { kind: "blocked", reason: "the destination is gone: the other program answered 404 (no such room)" },
    ],
    ["410", { kind: "status", status: 410 }, { kind: "blocked" }],
    [
      "400",
      { kind: "status", status: 400, body: { detail: "too long" } },
      { kind: "refused", reason: "the other program answered 400 (too long)" },
    ],
    ["a redirect", { kind: "status", status: 307, location: "/elsewhere" }, { kind: "refused" }],
    ["2xx without an id", { kind: "accept-no-id" }, { kind: "unclear" }],
    [
      "2xx with an id that is none",
      { kind: "status", status: 200, body: { id: { a: 1 } } },
      { kind: "unclear" },
    ],
    ["a cut connection", { kind: "close" }, { kind: "unclear" }],
    ["a cut connection after it was accepted", { kind: "accept-close" }, { kind: "unclear" }],
  ])("that is answered with %s", async (_name, answer, outcome) => {
    const before = peer.requests.length;
    expect(await sendTo(answer)).toMatchObject(outcome);
    await peer.sync();
    expect(peer.requests.length - before).toBe(1);
  });

  test("may be told to wait until a date", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const outcome = await sendTo({ kind: "status", status: 503, retryAfter: date });
    const afterMs = outcome.kind === "retry" ? (outcome.afterMs ?? 0) : 0;
    expect(afterMs).toBeGreaterThan(50_000);
    expect(afterMs).toBeLessThanOrEqual(60_000);
  });

  test("that is not answered in time is unclear", async () => {
    const clock = manualClock(Date.now());
    await peer.once("POST", { kind: "accept-hang" });
    const sending = senderTo(peer.url, clock).send(op, new AbortController().signal);
    await peer.until(() => peer.posts(`c${count}`, "t").length === 1);
    clock.advance(15_000);
    expect(await sending).toEqual({ kind: "unclear", reason: "there was no answer within 15000 ms" });
    expect(await look()).toMatchObject({ kind: "found" });
  });

  test("that is cut by our own stop is unclear", async () => {
    const stop = new AbortController();
    await peer.once("POST", { kind: "hang" });
    const before = peer.requests.length;
    const sending = send(op, stop.signal);
    await peer.until(() => peer.requests.length > before);
    stop.abort(new Error("stopped"));
    expect(await sending).toEqual({ kind: "unclear", reason: "stopped" });
  });

  test("that reached nobody is tried again, without a doubt", async () => {
    const other = await WebhookPeer.start(peer.secret);
    const { url } = other;
    await other.stop();
    const outcome = await senderTo(url).send(op, new AbortController().signal);
    expect(outcome).toEqual({
      kind: "retry",
      reason: "the connection to the other program failed (ECONNREFUSED)",
    });
  });

  test("never lets the secret or the URL into a reason", async () => {
    const answer = { reason: `bad secret ${peer.secret}` };
    const refused = await sendTo({ kind: "status", status: 422, body: answer });
    expect(JSON.stringify(refused)).not.toContain(peer.secret);
    const failed = await senderTo("http://127.0.0.1:1/?token=abc").send(op, new AbortController().signal);
    expect(JSON.stringify(failed)).not.toContain("abc");
  });
});

describe("an attempt in doubt", () => {
  test("is asked for by its key, signed, and found", async () => {
    await sendTo({ kind: "accept-no-id" });
    await peer.sync();
    const [post] = peer.posts(`c${count}`, "t");
    expect(await look()).toMatchObject({ kind: "found", receipt: { platformId: post?.id } });
    await peer.sync();
    expect(last()).toMatchObject({ method: "GET", url: `/waybill?key=${op.key}`, signed: true });
  });

  test("that never arrived is sent again", async () => {
    expect(await look()).toEqual({ kind: "send-again" });
  });

  test.each<[string, PeerAnswer, object]>([
    ["405", { kind: "status", status: 405 }, { kind: "unknown" }],
    ["501", { kind: "status", status: 501 }, { kind: "unknown" }],
    ["500", { kind: "status", status: 500 }, { kind: "retry" }],
    ["429", { kind: "status", status: 429, retryAfter: "3" }, { kind: "retry", afterMs: 3_000 }],
    ["200 without an id", { kind: "status", status: 200 }, { kind: "retry" }],
    ["403", { kind: "status", status: 403 }, { kind: "retry" }],
    ["a cut connection", { kind: "close" }, { kind: "retry" }],
  ])("and the question is answered with %s", async (_name, answer, outcome) => {
    await peer.once("GET", answer);
    expect(await look()).toMatchObject(outcome);
  });
});
