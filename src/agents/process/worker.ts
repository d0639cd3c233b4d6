import type { Clock } from "../../kernel/clock.ts";
import { WaybillError } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { RunContext } from "../agent.ts";
import { Child, type ChildSetup, type EndReason, type Exit } from "./child.ts";
import { processLog } from "./process-log.ts";
import type { ProcessTurn } from "./process-turn.ts";
import { LINE_BYTES_MOST, readLine, wireVersion, type ReadLine, type TurnLine } from "./wire.ts";

export interface WorkerSetup {
  agent: string;
  /** Its name as the holder of a grant, which no other process has or will have. */
  holder: string;
  /** How it is started with a grant, and which values of its environment must not stand in the log. */
  child(grant: Grant): { setup: ChildSetup; secrets: readonly string[] };
  concurrentTurns: number;
  startTimeoutMs: number;
  cancelGraceMs: number;
  clock: Clock;
  log: Logger;
}

export type Grant = Awaited<ReturnType<RunContext["grant"]>>;

export interface WorkerEvents {
  /** It is ready, has ended a turn, or takes no new ones. */
  changed(): void;
  /** It has ended a turn: it works. */
  turnOver(): void;
  dropped(): void;
  /** @param notStarted why it never was ready, if so */
  gone(how: Exit, notStarted: WaybillError | null): void;
}

/** Lines in a row that say nothing that can be used; then it speaks something else, and is ended. */
const BAD_LINES_MOST = 100;
/** Dropped lines of one process that are logged each; then every thousandth. */
const DROPS_LOGGED = 20;
/** Ids of turns that are over, kept to tell "late" from "unknown" in the log. */
const OVER_MOST = 1_000;

/**
 * One process of the pool and its turns. Each line finds its turn by the id in it, among the turns of this process
 * alone; what names none of them is dropped, and nothing is ever taken to be meant for the one that happens to run.
 *
 *   starting -> ready -> leaving -> gone
 */
export class Worker {
  readonly #setup: WorkerSetup;
  readonly #events: WorkerEvents;
  #child: Child | null = null;
  #log: Logger;
  #command = "";
  readonly #turns = new Map<string, ProcessTurn>();
  readonly #over = new Set<string>();
  readonly #graces = new Map<string, () => void>();
  #state: "starting" | "ready" | "leaving" | "gone" = "starting";
  #badLines = 0;
  #dropped = 0;
  /** Lines that were not JSON before it was ready: the usual reason why it never is. */
  #noise = 0;
  #wasReady = false;
  #wasIdle = false;
  #cancelStart: () => void = () => {};
  /** It is to end before it was started. */
  #endBefore: EndReason | null = null;
  readonly #left = Promise.withResolvers<Exit>();

  constructor(setup: WorkerSetup, events: WorkerEvents) {
    this.#setup = setup;
    this.#events = events;
    this.#log = setup.log;
  }

  /** Starts it for a turn. The turn's run opens the grant that the process has for life. */
  async begin(turn: ProcessTurn): Promise<void> {
    this.#turns.set(turn.id, turn);
    const how: Exit = { code: null, signal: null, failure: null, ended: null };
    try {
      const grant = await turn.ctx.grant(this.#setup.holder, turn.id);
      if (this.#endBefore) this.#exited({ ...how, ended: this.#endBefore });
      else this.#launch(grant);
    } catch (thrown) {
      turn.fail(thrown);
      this.#exited({ ...how, ended: "no_grant" });
    }
  }

  #launch(grant: Grant): void {
    const { clock, concurrentTurns, startTimeoutMs, agent } = this.#setup;
    const { setup, secrets } = this.#setup.child(grant);
    this.#command = setup.command;
    const child = new Child(setup, {
      line: (text) => this.#line(readLine(text)),
      log: (text) => log(text),
      exited: (how) => this.#exited(how),
    });
    this.#child = child;
    this.#log = this.#setup.log.child({ pid: child.pid });
    const log = processLog(this.#log, clock, secrets);
    this.#log.info({}, "an agent's process was started");
    this.#cancelStart = clock.after(startTimeoutMs, () => child.kill("not_ready"));
    child.send({ v: wireVersion, type: "hello", agent, concurrentTurns, lineBytes: LINE_BYTES_MOST });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get state(): "starting" | "ready" | "leaving" | "gone" {
    return this.#state;
  }

  /** It had no turn when it ended. */
  get wasIdle(): boolean {
    return this.#wasIdle;
  }

  /** Turns that it was given and has not ended. */
  get size(): number {
    return this.#turns.size;
  }

  get isFree(): boolean {
    return this.#state === "ready" && this.size < this.#setup.concurrentTurns;
  }

  /** Gives it a turn; only while it is free. */
  give(turn: ProcessTurn): void {
    this.#turns.set(turn.id, turn);
    void this.#tell(turn);
  }

  /** What the process does for this turn it may do in the name of its run, from now on and no sooner. */
  async #tell(turn: ProcessTurn): Promise<void> {
    try {
      if (!turn.isSettled) await turn.ctx.grant(this.#setup.holder, turn.id);
    } catch (thrown) {
      turn.fail(thrown);
    }
    if (this.#state === "gone") return;
    // Settled before the process knew of it: it never will.
    if (turn.isSettled) return this.#free(turn.id);
    turn.give(
      (message) => this.#child?.send(message),
      () => this.#cancel(turn),
    );
  }

  #free(id: string): void {
    this.#forget(id);
    if (this.#state === "leaving" && this.size === 0) void this.end("idle");
    this.#events.changed();
  }

  /** Ends it. Resolves when it and its group are gone. */
  end(reason: EndReason): Promise<Exit> {
    if (this.#state !== "gone") this.#state = "leaving";
    if (this.#child) void this.#child.end(reason);
    else this.#endBefore ??= reason;
    return this.#left.promise;
  }

  /** The run is settled and the process still works on it: it is told, and has a while to say that it has ended. */
  #cancel(turn: ProcessTurn): void {
    if (this.#state === "gone" || !this.#turns.has(turn.id)) return;
    const reason = turn.ctx.signal.aborted ? causeOf(turn.ctx.signal) : "failed";
    this.#child?.send({ v: wireVersion, type: "cancel", turn: turn.id, reason });
    const cancel = this.#setup.clock.after(this.#setup.cancelGraceMs, () => {
      this.#log.warn(
        { run: turn.ctx.run.id },
        "a process did not end a turn that was cancelled; it is ended",
      );
      void this.end("ignored_cancel");
    });
    this.#graces.set(turn.id, cancel);
  }

  #line(read: ReadLine): void {
    if (read.kind === "bad") return this.#badLine(read);
    this.#badLines = 0;
    if (read.kind === "turn") return this.#turnLine(read.line);
    if (read.line.type === "bye") return this.#bye();
    if (this.#state !== "starting") return;
    this.#cancelStart();
    this.#state = "ready";
    this.#wasReady = true;
    // Of those that it has now: one that turns out to be settled makes room for others, which are told by themselves.
    for (const turn of Array.from(this.#turns.values())) void this.#tell(turn);
    this.#events.changed();
  }

  #bye(): void {
    if (this.#state === "ready" || this.#state === "starting") this.#state = "leaving";
    if (this.size === 0) void this.end("idle");
    this.#events.changed();
  }

  #turnLine(line: TurnLine): void {
    const turn = this.#turns.get(line.turn);
    if (!turn) return this.#drop(this.#over.has(line.turn) ? "ended_turn" : "unknown_turn", line.turn);
    if (!turn.take(line)) return;
    this.#events.turnOver();
    this.#free(line.turn);
  }

  #badLine(read: Extract<ReadLine, { kind: "bad" }>): void {
    this.#badLines += 1;
    if (this.#state === "starting") this.#noise += 1;
    if (this.#badLines >= BAD_LINES_MOST) return this.#child?.kill("no_protocol");
    const turn = read.turn === null ? undefined : this.#turns.get(read.turn);
    if (turn) turn.takeBad(read.id, read.message);
    else this.#drop(read.why, read.turn);
    this.#child?.send({ v: wireVersion, type: "refused", turn: read.turn, message: read.message });
  }

  /** Dropped, logged and counted; the log has ids, never what the line says, and not every one of a flood. */
  #drop(why: string, turn: string | null): void {
    this.#dropped += 1;
    if (this.#dropped <= DROPS_LOGGED || this.#dropped % 1_000 === 0) {
      const fields = { why, turn: turn?.slice(0, 80) ?? null, dropped: this.#dropped };
      this.#log.warn(fields, "a line of a process was dropped");
    }
    this.#events.dropped();
  }

  #forget(id: string): void {
    this.#turns.delete(id);
    this.#graces.get(id)?.();
    this.#graces.delete(id);
    this.#over.add(id);
    if (this.#over.size > OVER_MOST) this.#over.delete(this.#over.values().next().value!);
  }

  #exited(how: Exit): void {
    this.#state = "gone";
    this.#cancelStart();
    for (const cancel of this.#graces.values()) cancel();
    const error = this.#wasReady ? this.#crash(how) : this.#notStarted(how);
    const turns = [...this.#turns.values()];
    this.#wasIdle = turns.length === 0;
    this.#turns.clear();
    for (const turn of turns) turn.fail(error);
    this.#events.gone(how, this.#wasReady ? null : error);
    this.#left.resolve(how);
  }

  #crash(how: Exit): WaybillError {
    const { code, signal, ended } = how;
    if (ended === "stop") return new WaybillError("shutting_down", "The gateway is stopping.");
    const why = ended ? endings[ended] : "It ended before it had ended the turn.";
    return new WaybillError("agent_crashed", `The agent's process ended (${sayExit(how)}). ${why}`, {
      exitCode: code,
      signal,
    });
  }

  #notStarted(how: Exit): WaybillError {
    const command = this.#command;
    if (how.ended === "stop") return new WaybillError("shutting_down", "The gateway is stopping.");
    const noise =
      this.#noise === 0
        ? ""
        : ` It wrote ${this.#noise} lines on standard output that are not of the protocol; logs belong on standard error.`;
    const what =
      how.failure !== null
        ? `could not be started (${how.failure}). Check command, cwd and PATH.`
        : how.ended === "not_ready"
          ? `did not say "ready" within ${this.#setup.startTimeoutMs} ms.${noise}`
          : `ended before it said "ready" (${sayExit(how)}).${noise}`;
    return new WaybillError("agent_not_started", `The agent's process "${command}" ${what}`, {
      exitCode: how.code,
      signal: how.signal,
      failure: how.failure,
    });
  }
}

const endings: Record<Exclude<EndReason, "stop">, string> = {
  no_grant: "It had no grant.",
  idle: "It was ended because it had nothing to do.",
  ignored_cancel: "It was ended because it did not end another turn that was cancelled.",
  line_too_long: `It was ended because a line of it is longer than ${LINE_BYTES_MOST} bytes.`,
  does_not_read: "It was ended because it does not read its standard input.",
  no_protocol: `It was ended because ${BAD_LINES_MOST} lines in a row were not of the protocol.`,
  not_ready: "It was ended because it was not ready in time.",
};

function sayExit({ code, signal, failure }: Exit): string {
  if (failure !== null) return failure;
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

function causeOf(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  const cause = reason instanceof WaybillError ? reason.details["cause"] : undefined;
  return typeof cause === "string" ? cause : "cancel";
}
