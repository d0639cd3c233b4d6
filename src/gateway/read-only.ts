import type { AgentRegistry } from "../agents/registry.ts";
import { createApp } from "../http/app.ts";
import type { HttpPorts } from "../http/ports.ts";
import { systemClock } from "../kernel/clock.ts";
import { WaybillError } from "../kernel/errors.ts";
import { systemIds } from "../kernel/ids.ts";
import { silentLogger } from "../kernel/logger.ts";
import { listSchedules, readSchedule } from "../schedules/read-schedules.ts";
import { unknownSchedule } from "../schedules/store-schedule.ts";
import { memoryStreams } from "../streams/memory/memory-streams.ts";
import { defaultTenant } from "./build.ts";
import type { ServerSettings } from "./environment.ts";
import { databaseTarget, openForReading } from "./open-database.ts";
import { version } from "./version.ts";

/** The routes of a gateway over a store that is only read: the command line where no server runs. */
export interface ReadOnlyGateway {
  /** Where the store is. */
  place: string;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Opens the store of a gateway for reading, beside a live gateway or without one. Whatever would change something is
 * refused with `no_server`.
 * @throws WaybillError `not_found` if there is no store, `store_unavailable`, `missing_package`
 */
export async function openReadOnlyGateway(
  settings: Pick<ServerSettings, "databaseUrl" | "dataDir">,
): Promise<ReadOnlyGateway> {
  const db = await openForReading(databaseTarget(settings.databaseUrl, settings.dataDir), silentLogger);
  const app = createApp(readOnlyPorts(db));
  return { place: db.place, fetch: async (request) => app.fetch(request), close: () => db.close() };
}

/** @throws WaybillError `no_server`, always */
function refuse(): Promise<never> {
  return Promise.reject(
    new WaybillError(
      "no_server",
      "No gateway is running here, so nothing can be changed. Start one with: waybill start, or name one with --url.",
    ),
  );
}

function readOnlyPorts(db: HttpPorts["db"]): HttpPorts {
  return {
    version,
    tenant: defaultTenant,
    db,
    clock: systemClock,
    ids: systemIds,
    log: silentLogger,
    locale: "en",
    door: {
      token: null,
      loopback: true,
      hosts: [],
      origins: [],
      bodyBytes: 1024 * 1024,
      perMinute: null,
    },
    node: null,
    agents: noAgents,
    inbox: { accept: refuse, amend: refuse, withdraw: refuse },
    streams: memoryStreams({ clock: systemClock }),
    consoleDir: null,
    feed: { subscribe: () => () => {} },
    channels: new Map(),
    channelStates: () => [],
    cancelRun: refuse,
    stopPlace: refuse,
    retryRun: refuse,
    retryDelivery: refuse,
    schedules: readOnlySchedules(db),
    clearSlot: refuse,
    send: refuse,
    tools: { open: refuse, post: refuse, status: refuse, addresses: refuse },
    ready: () => Promise.resolve({ ready: false, reason: "the store was opened for reading only" }),
    metrics: refuse,
  };
}

/** What is stored; whether a destination is whole is for a gateway with its settings to say. */
function readOnlySchedules(db: HttpPorts["db"]): HttpPorts["schedules"] {
  return {
    list: async (filter) =>
      (await listSchedules(db, defaultTenant, filter)).map((one) => ({ ...one, incomplete: null })),
    async show(id) {
      const found = await readSchedule(db, defaultTenant, id);
      if (!found) throw unknownSchedule(id);
      return { ...found, incomplete: null };
    },
    add: refuse,
    change: refuse,
    fire: refuse,
    remove: refuse,
  };
}

function noAgent(name: string): never {
  throw new WaybillError(
    "unknown_agent",
    `There is no agent "${name.slice(0, 80)}": no gateway is running here.`,
  );
}

const noAgents: AgentRegistry = {
  names: [],
  defaultName: "",
  has: () => false,
  get: noAgent,
  digest: noAgent,
};
