import { WaybillError } from "../../kernel/errors.ts";
import type { AgentHealth, AgentHost, RunContext } from "../agent.ts";
import { throwIfAborted } from "../race-abort.ts";
import type { ChildSetup, Exit } from "./child.ts";
import { processEnvironment } from "./process-environment.ts";
import type { ProcessSettings } from "./process-options.ts";
import { ProcessTurn } from "./process-turn.ts";
import { Worker, type Grant } from "./worker.ts";

/** Pauses before a process is started again after failures in a row: none after the first, then doubled. */
const AGAIN_MS = { first: 250, most: 30_000 };

/**
 * The processes of one agent in one gateway, and the turns that wait for one: first come, first served. A process is
 * started when a turn needs it, reused by whatever conversation comes next, and ended when nothing comes.
 *
 * A turn that a process is started for stays with that process; the others wait for the first that is free.
 */
export class ProcessPool {
  readonly #settings: ProcessSettings;
  readonly #host: AgentHost;
  readonly #workers = new Map<Worker, { cancelIdle: () => void }>();
  readonly #waiting: ProcessTurn[] = [];
  readonly #counts = { starts: 0, crashes: 0, dropped: 0 };
  /** Failures since a process last ended a turn. */
  #failures = 0;
  #pausing: (() => void) | null = null;
  #stopped = false;

  constructor(settings: ProcessSettings, host: AgentHost) {
    this.#settings = settings;
    this.#host = host;
  }

  /**
   * One run, from its wait for a process to its answer.
   * @throws WaybillError `agent_not_started`, `agent_crashed`, `agent_bad_output`, what the process said or the context
   * threw; the signal's reason as soon as it aborts
   */
  async run(ctx: RunContext): Promise<void> {
    throwIfAborted(ctx.signal);
    if (this.#stopped) throw new WaybillError("shutting_down", "The gateway is stopping.");
    const turn = new ProcessTurn(ctx);
    this.#waiting.push(turn);
    this.#dispatch();
    await turn.ended;
  }

  /** Ends all processes. Resolves when none of them, nor of their groups, is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pausing?.();
    for (const turn of this.#waiting.splice(0))
      turn.fail(new WaybillError("shutting_down", "The gateway is stopping."));
    await Promise.all([...this.#workers.keys()].map((worker) => worker.end("stop")));
  }

  health(): AgentHealth {
    let turns = 0;
    for (const worker of this.#workers.keys()) turns += worker.size;
    const waiting = this.#waiting.filter((turn) => !turn.isSettled).length;
    return { processes: this.#workers.size, turns, waiting, ...this.#counts };
  }

  #dispatch(): void {
    for (;;) {
      while (this.#waiting[0]?.isSettled) this.#waiting.shift();
      const [next] = this.#waiting;
      if (!next || this.#stopped) return;
      const worker = this.#freeWorker();
      if (!worker && !this.#mayStart()) return;
      this.#waiting.shift();
      if (!worker) {
        void this.#newWorker().begin(next);
        continue;
      }
      this.#workers.get(worker)?.cancelIdle();
      worker.give(next);
    }
  }

  /** The one with the least to do. */
  #freeWorker(): Worker | null {
    const free = [...this.#workers.keys()].filter((worker) => worker.isFree);
    return free.toSorted((a, b) => a.size - b.size)[0] ?? null;
  }

  /** Whether the ceiling and the pause after failures allow a new process, and those that start do not suffice. */
  #mayStart(): boolean {
    const { pool } = this.#settings;
    if (this.#pausing || this.#workers.size >= pool.max) return false;
    let coming = 0;
    for (const worker of this.#workers.keys()) {
      if (worker.state === "starting") coming += pool.concurrentTurns - worker.size;
    }
    return this.#waiting.length > coming;
  }

  #newWorker(): Worker {
    const { pool, startTimeoutMs, cancelGraceMs } = this.#settings;
    const { agent, boot, clock, log } = this.#host;
    this.#counts.starts += 1;
    const worker: Worker = new Worker(
      {
        agent,
        holder: `process:${agent}:${boot}:${this.#counts.starts}`,
        child: (grant) => this.#childSetup(grant),
        concurrentTurns: pool.concurrentTurns,
        startTimeoutMs,
        cancelGraceMs,
        clock,
        log,
      },
      {
        changed: () => this.#changed(worker),
        turnOver: () => {
          this.#failures = 0;
        },
        dropped: () => {
          this.#counts.dropped += 1;
        },
        gone: (how, notStarted) => this.#gone(worker, how, notStarted),
      },
    );
    this.#workers.set(worker, { cancelIdle: () => {} });
    return worker;
  }

  #childSetup({ token, url }: Grant): { setup: ChildSetup; secrets: readonly string[] } {
    const { command, args, cwd, env: names } = this.#settings;
    const own = { WAYBILL_GRANT: token, ...(url === null ? {} : { WAYBILL_URL: url }) };
    const env = processEnvironment(names, process.env, own);
    return {
      setup: { command, args, cwd, env },
      secrets: [token, ...names.flatMap((name) => env[name] ?? [])],
    };
  }

  #changed(worker: Worker): void {
    this.#dispatch();
    const kept = this.#workers.get(worker);
    if (!kept || worker.size > 0 || worker.state !== "ready") return;
    kept.cancelIdle();
    kept.cancelIdle = this.#host.clock.after(this.#settings.pool.idleMs, () => {
      const staying = [...this.#workers.keys()].filter(({ state }) => state === "ready").length;
      if (staying > this.#settings.pool.min && worker.size === 0) void worker.end("idle");
    });
  }

  #gone(worker: Worker, how: Exit, notStarted: WaybillError | null): void {
    this.#workers.get(worker)?.cancelIdle();
    this.#workers.delete(worker);
    const { code, signal, failure, ended } = how;
    const isFine =
      ended === "stop" ||
      ended === "idle" ||
      ended === "no_grant" ||
      (code === 0 && !notStarted && worker.wasIdle);
    const fields = { pid: worker.pid, code, signal, failure, ended };
    if (isFine) this.#host.log.info(fields, "an agent's process has ended");
    else {
      this.#host.log.warn(fields, "an agent's process ended badly");
      this.#counts.crashes += 1;
      this.#pause();
    }
    if (notStarted && !isFine) this.#failWaiting(notStarted);
    this.#dispatch();
  }

  /** Where no process works, those who wait would only be told the same later, one by one. */
  #failWaiting(error: WaybillError): void {
    const works = [...this.#workers.keys()].some(({ state }) => state === "ready" || state === "starting");
    if (works) return;
    for (const turn of this.#waiting.splice(0)) turn.fail(error);
  }

  #pause(): void {
    this.#failures += 1;
    if (this.#failures === 1 || this.#pausing || this.#stopped) return;
    const ms = Math.min(AGAIN_MS.first * 2 ** (this.#failures - 2), AGAIN_MS.most);
    const cancel = this.#host.clock.after(ms, () => {
      this.#pausing = null;
      this.#dispatch();
    });
    this.#pausing = cancel;
  }
}
