/**
 * The IRC channel against a real server (ngircd). The shared contract is not run here: it needs ids of messages that a
 * platform repeats, threads and free names of conversations, and IRC has none of them. What of it applies is here.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import { irc, type IrcOptions } from "../../src/channels/irc/index.ts";
import { RunningGateway } from "../../src/gateway/create-gateway.ts";
import { silentLogger } from "../../src/kernel/logger.ts";
import { channelPorts } from "../support/channel-ports.ts";
import { IrcPerson, Ngircd } from "../support/irc/ngircd.ts";
import { skipVariables, variables } from "../support/services.ts";
import { eachStore, type TestStore } from "../support/stores.ts";
import { Gates, readJson, untilChanged } from "./channels.harness.ts";

const missing = process.env[variables.ngircd] ? null : (process.env[skipVariables.ngircd] ?? "nobody looked");

if (missing !== null && process.env["CI"] === "true") {
  test("ngircd is there", () => {
    throw new Error(`With CI=true the IRC server may not be skipped: ${missing}`);
  });
}

let server: Ngircd;

/** What is the same whatever the store is tried on one. */
function sqliteOnly(): TestStore {
  return {
    name: "sqlite",
    async fresh() {
      const folder = await mkdtemp(path.join(tmpdir(), "waybill-irc-store-"));
      return {
        databaseUrl: `file:${path.join(folder, "waybill.db")}`,
        dispose: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
      };
    },
  };
}

async function startBot(store: TestStore, options: Partial<IrcOptions> = {}) {
  const fresh = await store.fresh();
  const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-irc-"));
  const gates = new Gates();
  const nick = `b${randomUUID().slice(0, 7)}`;
  const speaker = agent.fn(async function* (ctx) {
    const [word = "", ...rest] = ctx.text.split(" ");
    if (word === "wait") await gates.pass(rest.join(" "));
    if (word === "long") yield "a line of the answer\n\n".repeat(6);
    else if (word === "evil") yield "one\r\nPRIVMSG #other :two";
    else if (word === "tell") await ctx.send(rest[0], "told");
    else yield `You said: ${ctx.text}`;
  });
  const channel = irc({
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    nick,
    account: "net",
    allow: { users: ["ann", "bob"], channels: ["#team", "#Other"], dms: true },
    pace: { burst: 20, everyMs: 0 },
    ...options,
  });
  const retry = { attempts: 20, firstMs: 5, mostMs: 20, timeoutMs: 10_000 };
  const gateway = new RunningGateway(
    { agents: { speaker }, channels: [channel] },
    { dataDir, databaseUrl: fresh.databaseUrl, retry },
  );
  await gateway.start();
  const close = async (): Promise<void> => {
    await gateway.stop(0);
    await fresh.dispose();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { gateway, gates, nick, close, channel };
}

async function deliveries(gateway: RunningGateway, state: string) {
  const found = await readJson<{ items: { address: string; reason: string | null; receipts: unknown[] }[] }>(
    gateway,
    `/v1/deliveries?state=${state}`,
  );
  return found.items;
}

describe("the channel irc", { skip: missing !== null }, () => {
  beforeAll(async () => {
    server = await Ngircd.start();
  });
  afterAll(() => server.stop());

  eachStore((store) => {
    test("CHAN-1 ADDR-1: private messages and channels at once: each answer is where it was asked", async () => {
      const { gateway, gates, nick, close } = await startBot(store);
      const ann = await IrcPerson.join(server, "ann", "#team");
      const bob = await IrcPerson.join(server, "bob", "#team", "#other");
      await Promise.all([ann.sees(nick, "#team"), bob.sees(nick, "#other")]);
      ann.say(nick, "wait dm");
      bob.say("#team", `${nick}: wait team`);
      bob.say("#other", `wait other, ${nick}`);
      await Promise.all(["dm", "team", `other, ${nick}`].map((key) => gates.started(key)));
      // Somebody speaks elsewhere while the others wait.
      ann.say("#team", "nobody is asked here");
      for (const key of [`other, ${nick}`, "team", "dm"]) gates.open(key);
      await ann.until(() => ann.heard(nick, "ann").length > 0 && ann.heard(nick, "#team").length > 0);
      await bob.until(() => bob.heard(nick, "#other").length > 0);
      await Promise.all([ann.synced(), bob.synced()]);
      expect(ann.heard(nick, "ann")).toEqual(["You said: wait dm"]);
      expect(ann.heard(nick, "#team")).toEqual(["You said: wait team"]);
      expect(bob.heard(nick, "#other")).toEqual([`You said: wait other, ${nick}`]);
      const runs = await readJson<{ items: { replyTo: string }[] }>(gateway, "/v1/runs");
      expect(runs.items.map(({ replyTo }) => replyTo).toSorted()).toEqual([
        "irc:net/#other",
        "irc:net/#team",
        "irc:net/ann",
      ]);
      for (const person of [ann, bob]) person.leave();
      await close();
    });

    test("LEDG-14: a server that goes away gets what is due when it is back, once; the bot joins again", async () => {
      const { gateway, gates, nick, close } = await startBot(store);
      const ann = await IrcPerson.join(server, "ann", "#team");
      await ann.sees(nick, "#team");
      ann.say("#team", `${nick}: wait here`);
      await gates.started("here");
      await server.down();
      gates.open("here");
      await untilChanged(gateway, async () => (await deliveries(gateway, "sending")).length > 0);
      await server.up();
      const back = await IrcPerson.join(server, "ann", "#team");
      await back.until(() => back.heard(nick, "#team").length > 0);
      await back.synced();
      expect(back.heard(nick, "#team")).toEqual(["You said: wait here"]);
      await untilChanged(gateway, async () => (await deliveries(gateway, "delivered")).length === 1);
      back.leave();
      await close();
    });
  });

  test("CHAN-1: in channels only what names the bot is heard, and neither its own messages nor other programs'", async () => {
    const { gateway, nick, close } = await startBot(sqliteOnly());
    const ann = await IrcPerson.join(server, "ann", "#team");
    await ann.sees(nick, "#team");
    for (const text of ["hello all", `${nick}s are many`]) ann.say("#team", text);
    ann.send(`NOTICE #team :${nick}: I am a program`);
    ann.send(`NOTICE ${nick} :I am a program too`);
    ann.say("#team", `${nick.toUpperCase()}, one`);
    ann.say("#team", `and what does ${nick} say?`);
    await ann.until(() => ann.heard(nick, "#team").length === 2);
    expect(ann.heard(nick, "#team")).toEqual(["You said: one", `You said: and what does ${nick} say?`]);
    const { items } = await readJson<{ items: unknown[] }>(gateway, "/v1/runs");
    expect(items).toHaveLength(2);
    ann.leave();
    await close();
  });

  test("SECU-1 LEDG-17: a stranger is not answered and leaves one record; words are answered at once", async () => {
    const { gateway, nick, close } = await startBot(sqliteOnly(), {
      allow: { users: ["ann"], channels: ["#team"], dms: true },
    });
    const [ann, eve] = [
      await IrcPerson.join(server, "ann", "#team"),
      await IrcPerson.join(server, "eve", "#team"),
    ];
    await ann.sees(nick, "#team");
    eve.say("#team", `${nick}: stop`);
    eve.say(nick, "status");
    ann.say("#team", `${nick}: status`);
    await ann.until(() => ann.heard(nick, "#team").length > 0);
    await eve.synced();
    expect(ann.heard(nick, "#team")).toEqual([expect.stringContaining("no record")]);
    expect(eve.heard(nick, "eve")).toEqual([]);
    await untilRead(gateway, "/v1/denials", (items) => items.length === 2);
    for (const person of [ann, eve]) person.leave();
    await close();
  });

  test("LEDG-14: a long answer is a line a post, in order, each with its receipt; no text begins a command", async () => {
    const { gateway, nick, close } = await startBot(sqliteOnly());
    const [ann, bob] = [await IrcPerson.join(server, "ann"), await IrcPerson.join(server, "bob", "#other")];
    await bob.sees(nick, "#other");
    ann.say(nick, "long");
    await ann.until(() => ann.heard(nick, "ann").length === 6);
    await untilRead(gateway, "/v1/deliveries?state=delivered", (items) => items.length === 1);
    const [delivered] = await deliveries(gateway, "delivered");
    expect(delivered?.receipts).toHaveLength(6);
    ann.say(nick, "evil");
    await ann.until(() => ann.heard(nick, "ann").length === 8);
    await bob.synced();
    expect(ann.heard(nick, "ann").slice(6)).toEqual(["one", "PRIVMSG #other :two"]);
    expect(bob.heard(nick, "#other")).toEqual([]);
    for (const person of [ann, bob]) person.leave();
    await close();
  });

  test("ADDR-9: what cannot be reached is blocked with the server's reason, and goes nowhere else", async () => {
    const { gateway, gates, nick, close } = await startBot(sqliteOnly());
    const ann = await IrcPerson.join(server, "ann");
    ann.say(nick, "wait gone");
    await gates.started("gone");
    ann.leave();
    const bob = await IrcPerson.join(server, "bob", "#team");
    await bob.sees(nick, "#team");
    gates.open("gone");
    await untilRead(gateway, "/v1/deliveries?state=blocked", (items) => items.length === 1);
    const [blocked] = await deliveries(gateway, "blocked");
    expect(blocked).toMatchObject({ address: "irc:net/ann", reason: expect.stringContaining("401") });
    await bob.synced();
    expect(bob.lines.filter((line) => line.includes("You said"))).toEqual([]);
    bob.leave();
    await close();
  });

  test("one process a nick: a second one stands by, says who has it, and takes over", async () => {
    const one = await startBot(sqliteOnly(), { nick: "shared" });
    const two = await startBot(sqliteOnly(), { nick: "shared" });
    const state = async (gateway: RunningGateway) => {
      const { items } = await readJson<{ items: { kind: string; state: string }[] }>(gateway, "/v1/channels");
      return items.find(({ kind }) => kind === "irc");
    };
    expect(await state(one.gateway)).toMatchObject({ state: "on", reason: null });
    expect(await state(two.gateway)).toMatchObject({
      state: "standing-by",
      reason: expect.stringContaining("has this nick"),
    });
    await one.close();
    two.gateway.parts.holds.beat();
    await new Promise<void>((resolve) => {
      const stop = two.gateway.parts.states.onChange((_name, { kind }) => {
        if (kind !== "on") return;
        stop();
        resolve();
      });
    });
    await two.close();
  });

  test("SECU-1: where the server vouches for nobody, a services account lets nobody in, and that is said", async () => {
    const said: string[] = [];
    const log = { ...silentLogger, warn: (_: object, text: string) => void said.push(text) };
    const settings = {
      host: "127.0.0.1",
      port: server.port,
      tls: false,
      nick: `b${randomUUID().slice(0, 7)}`,
    };
    const allow = { users: ["account:ann"], channels: [], dms: true };
    const channel = irc({ ...settings, account: "net", allow }).connect(channelPorts({ log }));
    await channel.start?.();
    expect(said).toEqual([expect.stringContaining("account-tag")]);
    await channel.stop?.();
  });

  test("a nick that somebody else has gets an underscore", async () => {
    const holder = await IrcPerson.join(server, "taken", "#team");
    const { close } = await startBot(sqliteOnly(), { nick: "taken" });
    await holder.sees("taken_", "#team");
    holder.leave();
    await close();
  });
});

/** Resolves when a list of the gateway is as wished; it is read again whenever something changed there. */
async function untilRead(
  gateway: RunningGateway,
  where: string,
  holds: (items: unknown[]) => boolean,
): Promise<void> {
  for (;;) {
    const { items } = await readJson<{ items: unknown[] }>(gateway, where);
    if (holds(items)) return;
    await new Promise(setImmediate);
  }
}
