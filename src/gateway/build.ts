import { hostname } from "node:os";
import { agentRegistry, openAgents, type OpenAgents } from "../agents/registry.ts";
import { web } from "../channels/web/web-channel.ts";
import type { Database } from "../db/database.ts";
import { defaultRetry, Outbox } from "../deliveries/outbox.ts";
import { systemClock } from "../kernel/clock.ts";
import { killAt, noCrash } from "../kernel/crash-points.ts";
import { WaybillError } from "../kernel/errors.ts";
import { systemIds } from "../kernel/ids.ts";
import { silentLogger } from "../kernel/logger.ts";
import { systemRandom } from "../kernel/random.ts";
import { askAbort, stopPlace, type AskedAbort } from "../ledger/ask-abort.ts";
import { isTerminal, type RunState } from "../ledger/run.ts";
import { echoSigner } from "../runs/echo.ts";
import { Executor } from "../runs/executor.ts";
import { grantTokens } from "../runs/grant-tokens.ts";
import { retryRun } from "../runs/retry-run.ts";
import type { sendOutside } from "../runs/send-outside.ts";
import type { RunServices } from "../runs/services.ts";
import { toolDoor, type ToolDoor } from "../runs/tool-door.ts";
import { memoryStreams } from "../streams/memory/memory-streams.ts";
import { createInbox, type InboxOptions } from "../turns/inbox.ts";
import type { Inbox } from "../turns/incoming.ts";
import { routesOf } from "../turns/routes.ts";
import { channelPorts } from "./channel-ports.ts";
import { ChannelStates } from "./channel-states.ts";
import { clusterKey } from "./cluster-key.ts";
import { connectChannels, type Channels } from "./connect-channels.ts";
import { FeedHub } from "./feed.ts";
import { HoldKeeper } from "./hold-keeper.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openSchedules, type ScheduleParts } from "./schedule-services.ts";
import { databaseTarget, openDatabase } from "./open-database.ts";
import type { GatewayOptions } from "./options.ts";
import type { WaybillConfig } from "./settings.ts";

/** A gateway's parts, joined. Only this folder and the test kit see them. */
export interface Parts {
  config: WaybillConfig;
  options: GatewayOptions;
  boot: string;
  host: string;
  leaseMs: number;
  db: Database;
  services: RunServices;
  executor: Executor;
  outbox: Outbox;
  scheduler: ScheduleParts["scheduler"];
  schedules: ScheduleParts["schedules"];
  inbox: Inbox;
  channels: Channels;
  states: ChannelStates;
  agents: OpenAgents;
  holds: HoldKeeper;
  feed: FeedHub;
  metrics: Metrics;
  /** Set to true when the gateway begins to stop: nothing new is accepted. */
  closing: { now: boolean };
  tools: ToolDoor;
  control: {
    cancelRun(run: string, reason: string): Promise<AskedAbort>;
    stopPlace(address: string): Promise<string[]>;
    retryRun(run: string): ReturnType<Inbox["accept"]>;
    retryDelivery(delivery: string, to?: string): Promise<{ state: string }>;
    clearSlot: ScheduleParts["control"]["clearSlot"];
    send: (request: Parameters<typeof sendOutside>[1]) => ReturnType<typeof sendOutside>;
  };
}

/** The one tenant of an installation, until there are more. */
export const defaultTenant = "default";

/** Opens the store and joins the parts; nothing runs yet. */
export async function buildParts(
  config: WaybillConfig,
  options: GatewayOptions,
  fatal: (error: WaybillError) => void,
): Promise<Parts> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLogger;
  const ids = options.ids ?? systemIds;
  const dataDir = options.dataDir ?? ".waybill";
  const agents = agentRegistry(config.agents);
  for (const route of config.routes ?? []) agents.get(route.agent);
  const target = databaseTarget(options.databaseUrl, dataDir);
  const db = await openDatabase(target, { clock, log, crash: options.crash ?? null, onLost: fatal });
  try {
    const key = clusterKey(options.key, dataDir);
    const boot = ids.next("boot");
    const opened = openAgents(agents, { boot, log, clock });
    return join({ config, options, boot, db, key, clock, log, ids, opened, agents: opened.registry });
  } catch (error) {
    await db.close();
    throw error;
  }
}

interface Ground {
  config: WaybillConfig;
  options: GatewayOptions;
  boot: string;
  db: Database;
  key: Uint8Array;
  clock: NonNullable<GatewayOptions["clock"]>;
  log: NonNullable<GatewayOptions["log"]>;
  ids: NonNullable<GatewayOptions["ids"]>;
  agents: ReturnType<typeof agentRegistry>;
  opened: OpenAgents;
}

function join(ground: Ground): Parts {
  const { config, options, boot, db, clock, log } = ground;
  const closing = { now: false };
  const feed = new FeedHub(db);
  const later = inboxLater();
  const states = new ChannelStates();
  const holds = new HoldKeeper({ tenant: defaultTenant, boot, db, log });
  const ports = channelPorts({ ...ground, tenant: defaultTenant, inbox: later.inbox, holds });
  const channels = connectChannels([web(), ...(config.channels ?? [])], ports, states);
  const streams = memoryStreams({ clock });
  const metrics = createMetrics({
    liveRuns: () => executor.size,
    streams: () => streams.size(),
    agents: () => ground.opened.health(),
  });
  const services = runServices(ground, boot, channels, streams, feed, metrics, {
    wakeRuns: () => executor.wake(),
    findRun: (run) => executor.find(run),
    wakeOps: () => outbox.wake(),
    wakeSchedules: () => scheduler.wake(),
  });
  const executor = new Executor(services, config.limits?.concurrency ?? 1_000);
  executor.onWaited((ms) => metrics.runWait.observe(ms / 1_000));
  const outbox = createOutbox(ground, services, feed, metrics);
  const giveSignals = (aborts: readonly AskedAbort[]): void => signalAborts(db, executor, services, aborts);
  const forInbox = inboxOptions(ground, services, channels, metrics, executor, closing, giveSignals);
  const inbox = createInbox(forInbox);
  later.become(inbox);
  const { scheduler, schedules, control } = openSchedules(services, forInbox, feed);
  return {
    config,
    options,
    boot,
    host: hostname(),
    leaseMs: options.leaseMs ?? 15_000,
    db,
    services,
    executor,
    outbox,
    scheduler,
    schedules,
    inbox,
    channels,
    states,
    agents: ground.opened,
    holds,
    feed,
    metrics,
    closing,
    tools: toolDoor(services, (tool, outcome) => metrics.toolCalls.inc({ tool, outcome })),
    control: { ...controls(services, giveSignals), ...control },
  };
}

/** Channels and inbox need each other: a channel hands over to the inbox, which asks the channels who may speak. */
function inboxLater(): { inbox: Inbox; become(real: Inbox): void } {
  let real: Inbox | null = null;
  const theInbox = async (): Promise<Inbox> => {
    if (real) return real;
    throw new WaybillError("shutting_down", "Waybill is still starting.");
  };
  return {
    inbox: {
      accept: async (incoming) => (await theInbox()).accept(incoming),
      amend: async (change) => (await theInbox()).amend(change),
      withdraw: async (change) => (await theInbox()).withdraw(change),
    },
    become(made) {
      real = made;
    },
  };
}

/** What is made after the services that use it. */
interface Wakes {
  wakeRuns(): void;
  wakeOps(): void;
  wakeSchedules(): void;
  findRun(run: string): ReturnType<Executor["find"]>;
}

function runServices(
  ground: Ground,
  boot: string,
  channels: Channels,
  streams: RunServices["streams"],
  feed: FeedHub,
  metrics: Metrics,
  wake: Wakes,
): RunServices {
  const { config, options, db, key, clock, log, ids, agents } = ground;
  return {
    tenant: defaultTenant,
    owner: boot,
    db,
    ids,
    clock,
    log,
    reach: options.crash ? killAt(options.crash) : noCrash,
    locale: config.locale ?? "en",
    agents,
    streams,
    senders: channels.senders,
    allows: (place) => channels.allows(place),
    crossPost: config.crossPost ?? [],
    memory: config.memory ?? "conversation",
    memoryWindow: config.memoryWindow ?? 40,
    runLimits: config.limits?.run ?? {},
    answerLimit: config.limits?.answerCharacters ?? 1_000_000,
    abortGraceMs: 2_000,
    followUp: config.followUp ?? "queue",
    caps: config.limits?.daily ?? {},
    echoes: echoSigner(key, defaultTenant),
    toolGraceMs: config.tools?.graceMs ?? 60_000,
    live: (run) => wake.findRun(run),
    grants: grantTokens(ids),
    url: options.url ?? null,
    hear: hearing(db, feed, metrics, wake),
  };
}

/** What comes after commits: live feeds are told, and what may have become due is looked for, here and on other nodes. */
function hearing(db: Database, feed: FeedHub, metrics: Metrics, wake: Wakes): RunServices["hear"] {
  return {
    posted: (address) => feed.publish({ kind: "posted", address }),
    runChanged(run, address, state: RunState) {
      if (isTerminal(state)) metrics.runsEnded.inc({ state });
      feed.publish({ kind: "run", address, run, state });
    },
    opsAdded() {
      wake.wakeOps();
      db.notify("ops");
    },
    runsReady() {
      wake.wakeRuns();
      db.notify("runs");
    },
    schedulesChanged() {
      wake.wakeSchedules();
      db.notify("schedules");
    },
  };
}

function createOutbox(ground: Ground, s: RunServices, feed: FeedHub, metrics: Metrics): Outbox {
  const { db, clock, options } = ground;
  return new Outbox({
    tenant: s.tenant,
    owner: s.owner,
    db,
    senders: s.senders,
    clock,
    log: s.log,
    reach: s.reach,
    random: options.random ?? systemRandom,
    retry: { ...defaultRetry, ...options.retry },
    onSettled(delivery, address, state) {
      metrics.deliveries.inc({ state });
      feed.publish({ kind: "delivery", address, delivery });
    },
  });
}

function inboxOptions(
  ground: Ground,
  s: RunServices,
  channels: Channels,
  metrics: Metrics,
  executor: Executor,
  closing: { now: boolean },
  giveSignals: (aborts: readonly AskedAbort[]) => void,
): InboxOptions {
  const { config, db } = ground;
  const route = routesOf(config.routes ?? [], s.agents.defaultName);
  return {
    tenant: s.tenant,
    db,
    ids: s.ids,
    log: s.log,
    reach: s.reach,
    locale: s.locale,
    senders: s.senders,
    authorize(incoming) {
      const allowed = channels.authorize(incoming);
      if (allowed !== true) metrics.denied.inc();
      return allowed;
    },
    allows: s.allows,
    route,
    agent(name) {
      const { version, background, recovery, limits } = s.agents.get(name);
      return { name, version, background, recovery, limits: { ...s.runLimits, ...limits } };
    },
    memory: s.memory,
    followUp: s.followUp,
    slots: config.lastActive === true,
    caps: config.limits?.daily ?? {},
    open: () => !closing.now,
    // On SQLite the claim is given to the writer right behind the accept, and both share one commit.
    onAccepting: () => {
      if (db.dialect === "sqlite") executor.wake();
    },
    onAccepted(accepted, { place }, aborts) {
      if (accepted.repeated) return;
      metrics.accepted.inc({ outcome: accepted.outcome });
      s.hear.posted(place.address);
      if (accepted.address !== place.address) s.hear.posted(accepted.address);
      if (s.senders.get(place.channel)?.inTransaction !== true) s.hear.opsAdded();
      giveSignals(aborts);
      if (db.dialect === "postgres") s.hear.runsReady();
    },
    onChanged(place, aborts) {
      s.hear.posted(place.address);
      giveSignals(aborts);
    },
  };
}

/** The cause is stored; now the signal: here at once, on other nodes through a notification or their next beat. */
function signalAborts(db: Database, executor: Executor, s: RunServices, aborts: readonly AskedAbort[]): void {
  for (const { run, address, how } of aborts) {
    if (how === "asked" && !executor.abort(run, "cancel")) db.notify(`abort ${run}`);
    if (how === "cancelled") s.hear.runChanged(run, address, "cancelled");
  }
  if (aborts.some((one) => one.how === "cancelled")) s.hear.runsReady();
}

function controls(
  s: RunServices,
  giveSignals: (aborts: readonly AskedAbort[]) => void,
): Omit<Parts["control"], keyof ScheduleParts["control"]> {
  return {
    async cancelRun(run, reason) {
      const asked = await s.db.do(askAbort, { tenant: s.tenant, run, cause: "cancel", reason });
      giveSignals([asked]);
      return asked;
    },
    async stopPlace(address) {
      const asked = await s.db.do(stopPlace, { tenant: s.tenant, address, reason: "cancel" });
      giveSignals(asked);
      return asked.map((one) => one.run);
    },
    async retryRun(run) {
      const { accepted } = await retryRun(s, run);
      s.hear.runsReady();
      return accepted;
    },
  };
}
