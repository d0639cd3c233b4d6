/** The official client against a Slack of our own for Socket Mode; the rest is the emulator. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { channelPorts } from "../../../test/support/channel-ports.ts";
import { SlackAnnex } from "../../../test/support/slack/annex.ts";
import { SlackTown } from "../../../test/support/slack/slack-town.ts";
import { type ManualClock, manualClock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { Channel, ChannelPorts, ChannelState, Hold, IncomingMessage } from "../channel.ts";
import { slack } from "./index.ts";

let town: SlackTown;
let annex: SlackAnnex;
let clock: ManualClock;
let states: ChannelState[];
let warnings: string[];
let accepted: IncomingMessage[];
let accept: () => Promise<void>;
const open: Channel[] = [];
let count = 0;

beforeAll(async () => {
  town = await SlackTown.start({ team: "T1" });
  town.addUser("U1");
  town.addConversation("C1");
});
afterAll(() => town.stop());
beforeEach(async () => {
  annex = await SlackAnnex.start(town);
  clock = manualClock(Date.now());
  states = [];
  warnings = [];
  accepted = [];
  accept = () => Promise.resolve();
});
afterEach(async () => {
  for (const channel of open.splice(0)) await channel.stop?.();
  await annex.stop();
});

function connect(ports: Partial<ChannelPorts> = {}): Channel {
  const channel = slack({
    account: "T1",
    botToken: town.bot.token,
    appToken: "xapp-1",
    apiUrl: annex.apiUrl,
    allow: { users: "*", channels: "*", dms: true },
    listen: "all",
  }).connect(
    channelPorts({
      clock,
      inbox: {
        async accept(incoming) {
          accepted.push(incoming);
          annex.tell();
          await accept();
          const { address } = incoming.place;
          const ids = { turn: "turn_1", run: "run_1", stream: null, message: "msg_1" };
          return { ...ids, address, outcome: "queued", repeated: false };
        },
        amend: () => Promise.resolve("unknown"),
        withdraw: () => Promise.resolve("unknown"),
      },
      report(state) {
        states.push(state);
        annex.tell();
      },
      log: listening(),
      ...ports,
    }),
  );
  open.push(channel);
  return channel;
}

function listening(): ChannelPorts["log"] {
  const say = (_fields: object, message: string): void => {
    warnings.push(message);
    annex.tell();
  };
  const quiet = (): void => {};
  const log = { debug: quiet, info: quiet, warn: say, error: say, child: () => log };
  return log as unknown as ChannelPorts["log"];
}

const message = (more: Record<string, unknown> = {}) => {
  count += 1;
  const ts = `${1_700_000_000 + count}.000100`;
  return { type: "message", channel: "C1", channel_type: "channel", user: "U1", ts, text: "hi", ...more };
};
const kinds = (): string[] => states.map(({ kind }) => kind);

test("an envelope is acknowledged after the commit, and not before", async () => {
  let commit = (): void => {};
  accept = () => new Promise((resolve) => (commit = resolve));
  await connect().start?.();
  expect(kinds()).toEqual(["on"]);
  const id = annex.pushEvent(message());
  await annex.until("the message is handed over", () => accepted.length === 1);
  expect(annex.acks).toEqual([]);
  commit();
  await annex.until("it is acknowledged", () => annex.acks.includes(id));
  expect(accepted[0]).toMatchObject({ text: "hi", sender: { id: "U1" } });
});

test("what could not be committed is not acknowledged, and is taken when Slack sends it again", async () => {
  accept = () => Promise.reject(new WaybillError("store_unavailable", "The store is away."));
  await connect().start?.();
  const event = message();
  annex.pushEvent(event);
  await annex.until("it is said", () => warnings.some((one) => one.includes("was not acknowledged")));
  expect(annex.acks).toEqual([]);
  accept = () => Promise.resolve();
  const again = annex.pushEvent(event, { retry_attempt: 1, retry_reason: "timeout" });
  await annex.until("it is acknowledged", () => annex.acks.includes(again));
  expect(accepted.map(({ retried }) => retried)).toEqual([undefined, true]);
});

test("what is not understood, or is of another workspace, is said, and the connection stays", async () => {
  await connect().start?.();
  annex.push("no json");
  annex.push({ type: "events_api", payload: {} });
  const unknown = annex.push({ type: "slash_commands", payload: {} });
  const event = { type: "event_callback", team_id: "T2", event: message() };
  const other = annex.push({ type: "events_api", payload: event });
  const fine = annex.pushEvent(message());
  await annex.until("all are acknowledged", () => annex.acks.length === 3);
  expect(new Set(annex.acks)).toEqual(new Set([unknown, other, fine]));
  expect(accepted).toHaveLength(1);
  expect(warnings.join("\n")).toMatch(/was not understood[^]*another workspace than T1/);
});

test("a connection that Slack ends is followed by another", async () => {
  await connect().start?.();
  clock.advance(10_000);
  annex.push({ type: "disconnect", reason: "refresh_requested" });
  await annex.until("it is connected again", () => annex.links.length === 2 && kinds().at(-1) === "on");
  expect(kinds()).toEqual(["on", "connecting", "on"]);
  const id = annex.pushEvent(message());
  await annex.until("it is heard", () => annex.acks.includes(id));
});

test("a connection that breaks at once is tried again after a pause that grows", async () => {
  annex.answers.set("apps.connections.open", () => new Response("", { status: 503 }));
  const started = connect().start?.();
  const tries = (): number => annex.of("apps.connections.open").length;
  for (const [n, ms] of [1_000, 2_000, 4_000].entries()) {
    await annex.until(`${n + 1} tries`, () => tries() === n + 1 && states.length === n + 1);
    clock.advance(ms - 1);
    expect(tries()).toBe(n + 1);
    clock.advance(1);
  }
  await annex.until("four tries", () => tries() === 4 && states.length === 4);
  annex.answers.set("apps.connections.open", () => ({
    ok: true,
    url: `${annex.url.replace("http", "ws")}/x`,
  }));
  clock.advance(8_000);
  await started;
  expect(kinds()).toEqual(["connecting", "connecting", "connecting", "connecting", "on"]);
});

test("a token that Slack refuses is an error that names the setting", async () => {
  annex.answers.set("apps.connections.open", () => ({ ok: false, error: "invalid_auth" }));
  await expect(connect().start?.()).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining("slack.appToken") as string,
  });
  expect(kinds()).toEqual(["off"]);
});

test("of two processes one has the connection; the other stands by, says so, and takes over", async () => {
  let free = (): void => {};
  let isHeld = true;
  const names: string[] = [];
  const lost = new AbortController().signal;
  const hold = (name: string): Promise<Hold> => {
    names.push(name);
    if (!isHeld) return Promise.resolve({ held: true, lost, release: () => Promise.resolve() });
    const freed = new Promise<void>((resolve) => (free = resolve));
    return Promise.resolve({ held: false, by: "node boot_1", freed });
  };
  await connect({ hold }).start?.();
  expect(states).toEqual([
    { kind: "standing-by", reason: "node boot_1 has the connection of slack.appToken" },
  ]);
  expect(annex.links).toEqual([]);
  expect(names[0]).not.toContain("xapp-1");
  isHeld = false;
  free();
  await annex.until("it took over", () => kinds().at(-1) === "on");
  expect(annex.links).toHaveLength(1);
});

test("a hold that is lost ends the connection, and it stands by", async () => {
  const lost = new AbortController();
  let taken = 0;
  const hold = (): Promise<Hold> => {
    taken += 1;
    if (taken > 1) return Promise.resolve({ held: false, by: "node boot_2", freed: new Promise(() => {}) });
    return Promise.resolve({ held: true, lost: lost.signal, release: () => Promise.resolve() });
  };
  await connect({ hold }).start?.();
  lost.abort();
  await annex.until("it stands by", () => kinds().at(-1) === "standing-by");
  await annex.until("the connection is closed", () => annex.links[0]?.closed === true);
});

test("another program with the same token is told of: it takes a part of the events", async () => {
  annex.hello = { type: "hello", num_connections: 2 };
  await connect().start?.();
  expect(warnings.join("\n")).toContain("slack.appToken has other connections");
});

test("a stop settles what came in, then closes, and gives the token free", async () => {
  let commit = (): void => {};
  let released = false;
  accept = () => new Promise((resolve) => (commit = resolve));
  const lost = new AbortController().signal;
  const release = (): Promise<void> => {
    released = true;
    return Promise.resolve();
  };
  const channel = connect({ hold: () => Promise.resolve({ held: true, lost, release }) });
  await channel.start?.();
  const id = annex.pushEvent(message());
  await annex.until("the message is handed over", () => accepted.length === 1);
  const stopped = channel.stop?.();
  expect(released).toBe(false);
  commit();
  await stopped;
  expect(released).toBe(true);
  await annex.until("the connection is closed", () => annex.links[0]?.closed === true);
  expect(annex.acks).toEqual([id]);
});
