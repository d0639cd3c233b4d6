import { builtConsole } from "../http/console-files.ts";
import type { HttpPorts } from "../http/ports.ts";
import type { Parts } from "./build.ts";
import { version } from "./version.ts";

/** What the HTTP server is given of a gateway. */
export function httpPorts(parts: Parts, stopped?: AbortSignal): HttpPorts {
  const { services, options, config, control, db } = parts;
  const loopback = options.loopback ?? true;
  return {
    version,
    tenant: services.tenant,
    db,
    clock: services.clock,
    ids: services.ids,
    log: services.log,
    locale: services.locale,
    door: {
      token: options.token ?? null,
      loopback,
      hosts: options.hosts ?? [],
      origins: options.origins ?? [],
      bodyBytes: config.limits?.bodyBytes ?? 1024 * 1024,
      perMinute: config.limits?.requestsPerMinute ?? (loopback ? null : 600),
    },
    node: { boot: parts.boot, pid: process.pid },
    agents: services.agents,
    inbox: parts.inbox,
    streams: services.streams,
    feed: parts.feed,
    consoleDir: options.consoleDir === undefined ? builtConsole : options.consoleDir,
    channels: parts.channels.handlers,
    channelStates: () => parts.states.wire(),
    cancelRun: (run, reason) => control.cancelRun(run, reason),
    stopPlace: (address) => control.stopPlace(address),
    retryRun: (run) => control.retryRun(run),
    retryDelivery: (delivery, to) => control.retryDelivery(delivery, to),
    schedules: parts.schedules,
    clearSlot: (account, slot) => control.clearSlot(account, slot),
    tools: parts.tools,
    send: (request) => control.send(request),
    stopped,
    ready: () => readiness(parts),
    metrics: () => parts.metrics.render(),
  };
}

async function readiness(parts: Parts): Promise<{ ready: boolean; reason: string | null }> {
  if (parts.closing.now) return { ready: false, reason: "the gateway is stopping" };
  try {
    await parts.db.ping();
    return { ready: true, reason: null };
  } catch {
    return { ready: false, reason: "the store does not answer" };
  }
}
