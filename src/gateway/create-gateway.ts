import { createApp, type HttpApp } from "../http/app.ts";
import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { askAbort } from "../ledger/ask-abort.ts";
import { leaveNode, registerNode } from "../ledger/nodes.ts";
import { endOrphans, recoverRuns } from "../runs/recover-runs.ts";
import { buildParts, type Parts } from "./build.ts";
import { startChannels } from "./channel-life.ts";
import { Heartbeat } from "./heartbeat.ts";
import { httpPorts } from "./http-ports.ts";
import type { GatewayOptions } from "./options.ts";
import type { WaybillConfig } from "./settings.ts";
import { checkSettings } from "./check-settings.ts";

/** A gateway inside a program: mount `fetch` in any Hono or fetch server, `start` it before and `stop` it at the end. */
export interface Gateway {
  /**
   * Answers HTTP requests; 503 with `shutting_down` before the start and after the stop. `env` is what a server adapter
   * hands over beside the request; with that of `@hono/node-server` event streams go to the socket directly.
   */
  fetch(request: Request, env?: object): Promise<Response>;
  /**
   * Opens the store, reports what a dead process left, and begins to work.
   * @throws WaybillError `config_invalid`, `data_in_use`, `data_folder_unusable`, `schema_too_new`, `store_unavailable`
   */
  start(): Promise<void>;
  /** Stops claiming, lets runs that end within `graceMs` end, reports the others, sends what is due, and leaves. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** On Postgres, how long a run waits for a node that has its agent; on SQLite there is no other node to wait for. */
const ORPHAN_MS = 60_000;

/** How long sends may go on while stopping. */
const FLUSH_MS = 5_000;

/**
 * Makes a gateway from settings; nothing is opened before `start`.
 *
 *   const gateway = createGateway({ agents: { assistant: agent.fn(async (ctx) => `You said: ${ctx.text}`) } });
 *   await gateway.start();
 *   export default { fetch: gateway.fetch };
 */
export function createGateway(config: WaybillConfig, options: GatewayOptions = {}): Gateway {
  const running = new RunningGateway(config, options);
  return {
    fetch: (request, env) => running.fetch(request, env),
    start: () => running.start(),
    stop: (how) => running.stop(how?.graceMs),
  };
}

/** The life of a gateway: start, beat, stop. The test kit drives it too. */
export class RunningGateway {
  readonly #config: WaybillConfig;
  readonly #options: GatewayOptions;
  #parts: Parts | null = null;
  /** The store and the parts on their way, from the call of `start` on. */
  #opening: Promise<Parts> | null = null;
  #app: HttpApp | null = null;
  #heartbeat: Heartbeat | null = null;
  #stopping: Promise<void> | null = null;
  readonly #stopped = new AbortController();
  #recovering: Promise<unknown> = Promise.resolve();
  #unlisten: () => void = () => {};

  constructor(config: WaybillConfig, options: GatewayOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** @throws TypeError before the start */
  get parts(): Parts {
    if (!this.#parts) throw new TypeError("The gateway has not been started.");
    return this.#parts;
  }

  async fetch(request: Request, env?: object): Promise<Response> {
    if (this.#app) return this.#app.fetch(request, env);
    const body = {
      type: "about:blank",
      title: "Shutting down",
      status: 503,
      code: "shutting_down",
      detail: "Waybill is not running; try again in a moment.",
    };
    const headers = { "content-type": "application/problem+json", "retry-after": "2" };
    return new Response(JSON.stringify(body), { status: 503, headers });
  }

  async start(): Promise<void> {
    if (this.#opening) throw new TypeError("The gateway was started already.");
    const warnings = checkSettings(this.#config, this.#options);
    this.#opening = buildParts(this.#config, this.#options, (error) => this.#fatal(error));
    const parts = await this.#opening.catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    this.#parts = parts;
    for (const warning of warnings) parts.services.log.warn({}, warning);
    try {
      await this.#begin(parts);
    } catch (error) {
      // Whoever tries again, or another process, must find the store free.
      await this.stop(0);
      throw error;
    }
  }

  async #begin(parts: Parts): Promise<void> {
    const { db, services, boot, host, leaseMs, executor } = parts;
    const node = {
      tenant: services.tenant,
      boot,
      host,
      pid: process.pid,
      leaseMs,
      agents: [...executor.versions],
    };
    const registeredAt = services.clock.now();
    refuseIfStopping(parts);
    await db.do(registerNode, node);
    refuseIfStopping(parts);
    // Before anything that may take long: the lease has begun.
    this.#heartbeat = this.#beat(parts, registeredAt);
    await recoverRuns(services, db.dialect === "sqlite");
    if (db.dialect === "sqlite") await endOrphans(services, 0);
    refuseIfStopping(parts);
    this.#app = createApp(httpPorts(parts, this.#stopped.signal));
    this.#unlisten = db.listen((topic) => this.#hear(topic));
    await startChannels(parts);
    refuseIfStopping(parts);
    executor.start();
    parts.outbox.wake();
    await parts.schedules.sync(this.#config.schedules ?? []);
    refuseIfStopping(parts);
    parts.scheduler.start();
    services.log.info({ boot, store: db.place }, "the gateway has started");
  }

  #beat(parts: Parts, registeredAt: number): Heartbeat {
    const { db, services, boot, leaseMs, executor } = parts;
    const heartbeat = new Heartbeat({
      tenant: services.tenant,
      boot,
      leaseMs,
      db,
      clock: services.clock,
      log: services.log,
      onAborts: (asked) => {
        for (const { run, cause } of asked) executor.abort(run, cause);
      },
      onLost: (forGood) => {
        executor.loseAll();
        parts.holds.loseAll();
        if (forGood)
          this.#fatal(new WaybillError("store_unavailable", "This node's lease was taken over; restart it."));
      },
      onBeat: () => {
        parts.holds.beat();
        if (db.dialect === "postgres") this.#recover(parts);
        // An ended stream is kept for readers that come back; after that the committed answer is all there is.
        services.streams.forgetEnded(15 * 60_000);
      },
    });
    heartbeat.start(registeredAt);
    return heartbeat;
  }

  #recover(parts: Parts): void {
    const recover = async (): Promise<void> => {
      await recoverRuns(parts.services, false);
      if (!parts.closing.now) await endOrphans(parts.services, ORPHAN_MS);
    };
    this.#recovering = recover().catch((error: unknown) =>
      parts.services.log.error({ error: String(error) }, "runs of dead nodes could not be looked for"),
    );
  }

  #hear(topic: string): void {
    const { executor, outbox, feed } = this.parts;
    if (topic === "runs") executor.wake();
    else if (topic === "ops") outbox.wake();
    else if (topic === "schedules") this.parts.scheduler.wake();
    else if (topic.startsWith("abort ")) executor.abort(topic.slice("abort ".length), "cancel");
    else feed.receive(topic);
  }

  #fatal(error: WaybillError): void {
    if (this.#parts) {
      this.#parts.closing.now = true;
      this.#parts.executor.close();
      this.#parts.services.log.error({ code: error.code }, error.message);
    }
    this.#options.onFatal?.(error);
  }

  /** Also while it starts: then `start` is refused with `shutting_down`, and nothing stays open. */
  stop(graceMs?: number): Promise<void> {
    if (!this.#opening) return Promise.resolve();
    const grace = graceMs ?? this.#config.shutdown?.graceMs ?? 10_000;
    // Nothing is accepted from this moment on, not from the next turn of the loop.
    if (this.#parts) this.#stopping ??= this.#stop(this.#parts, grace);
    this.#stopping ??= this.#opening.then(
      (parts) => this.#stop(parts, grace),
      () => {
        this.#stopping = null; // Nothing was opened; `start` says why.
      },
    );
    return this.#stopping;
  }

  async #stop(parts: Parts, graceMs: number): Promise<void> {
    const { executor, services, channels, outbox, db, boot } = parts;
    parts.closing.now = true;
    const scheduled = parts.scheduler.stop();
    executor.close();
    await Promise.allSettled(channels.all.map(async (channel) => channel.stop?.()));
    await scheduled;
    await parts.holds.stop();
    const late = await executor.settle(graceMs);
    await Promise.allSettled(late.map((run) => this.#interrupt(parts, run)));
    await executor.settle(services.abortGraceMs * 2);
    await parts.agents.stop();
    await outbox.stop(FLUSH_MS);
    this.#heartbeat?.stop();
    await this.#recovering;
    this.#unlisten();
    await services.streams.stop();
    this.#stopped.abort();
    try {
      await db.do(leaveNode, { tenant: services.tenant, boot });
    } catch (thrown) {
      services.log.warn({ code: asWaybillError(thrown).code }, "the node could not say that it leaves");
    }
    await db.close();
    this.#app = null;
    services.log.info({ boot }, "the gateway has stopped");
  }

  async #interrupt(parts: Parts, run: string): Promise<void> {
    const { db, services, executor } = parts;
    await db.do(askAbort, { tenant: services.tenant, run, cause: "shutdown", reason: "shutdown" });
    executor.abort(run, "shutdown");
  }
}

/** @throws WaybillError `shutting_down` */
function refuseIfStopping({ closing }: Parts): void {
  if (closing.now) throw new WaybillError("shutting_down", "The gateway was stopped while it started.");
}
