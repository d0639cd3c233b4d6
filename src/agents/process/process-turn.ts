import type { ErrorCode } from "../../kernel/error-codes.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";
import type { AgentInput, RunContext } from "../agent.ts";
import { abortReason } from "../race-abort.ts";
import { wireVersion, type RequestId, type TurnLine } from "./wire.ts";

/** Requests of one turn that may wait for their answer; a process that asks on without reading is stopped here. */
const REQUESTS_MOST = 100;

/** Codes that a process may give its own failure; they choose the sentence that people get. Others become `agent_failed`. */
const ownCodes: readonly ErrorCode[] = [
  "agent_failed",
  "agent_bad_output",
  "token_limit",
  "step_limit",
  "provider_unauthorized",
  "provider_rate_limited",
  "provider_failed",
  "provider_bad_answer",
];

type Request = Extract<
  TurnLine,
  { type: "progress" | "say" | "send" | "start" | "status" | "checkpoint" | "follow_ups" | "remind" }
>;

/**
 * One run as a process sees it.
 *
 *   waiting -> given -> (settled by abort, limit or a bad line -> cancelling) -> over
 *
 * *Settled* is our side: the run has its outcome. *Over* is the process's side: it said `done` or `error`, or is gone.
 * What it says between the two changes nothing any more.
 */
export class ProcessTurn {
  readonly id: string;
  readonly ctx: RunContext;
  readonly #settled = Promise.withResolvers<void>();
  #isSettled = false;
  /** Requests are carried out one after another, so that what a process says comes in the order in which it says it. */
  #chain: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isOver = false;
  #send: (message: object) => void = () => {};
  #onBroken: () => void = () => {};
  readonly #onAbort: () => void;

  constructor(ctx: RunContext) {
    this.ctx = ctx;
    this.id = `${ctx.run.id}-${ctx.run.attempt}`;
    this.#settled.promise.catch(() => {});
    this.#onAbort = () => this.fail(abortReason(ctx.signal));
    if (ctx.signal.aborted) this.#onAbort();
    else ctx.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Resolves when the answer is complete; rejects with why there is none. */
  get ended(): Promise<void> {
    return this.#settled.promise;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * Gives the turn to a process.
   * @param broken called once if the run is settled before its process has ended the turn: the process is to be told
   */
  give(send: (message: object) => void, broken: () => void): void {
    this.#send = send;
    this.#onBroken = broken;
    send(turnMessage(this.id, this.ctx));
  }

  /** A line of its process about it. @returns true if the process has ended the turn with it */
  take(line: TurnLine): boolean {
    const isLast = line.type === "done" || line.type === "error";
    if (isLast) this.#isOver = true;
    if (this.#isSettled) return isLast;
    try {
      this.#act(line);
    } catch (thrown) {
      this.fail(thrown);
    }
    return isLast;
  }

  /** A line that names this turn and cannot be understood: its author is told, or the turn would lack a piece unnoticed. */
  takeBad(id: RequestId | null, message: string): void {
    if (this.#isSettled) return;
    if (id === null) this.fail(new WaybillError("agent_bad_output", message));
    else this.#answer(id, new WaybillError("invalid_request", message));
  }

  /** The run ends with this error, unless it has ended. */
  fail(thrown: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#settled.reject(thrown);
    if (!this.#isOver) this.#onBroken();
  }

  #settle(): void {
    this.#isSettled = true;
    this.ctx.signal.removeEventListener("abort", this.#onAbort);
  }

  #act(line: TurnLine): void {
    const { ctx } = this;
    switch (line.type) {
      case "text":
        return ctx.stream.text(line.text);
      case "data":
        return ctx.stream.data(line.name, line.value, line.id === undefined ? {} : { id: line.id });
      case "usage":
        return ctx.use(usageOf(line));
      case "silent":
        return ctx.silent();
      case "done":
        if (line.text !== undefined) ctx.stream.text(line.text);
        return this.#then(async () => this.#complete());
      case "error":
        return this.#then(async () => this.fail(ownError(line)));
      default:
        return this.#request(line);
    }
  }

  #complete(): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#settled.resolve();
  }

  /** Behind what was asked before. */
  #then(act: () => Promise<void>): void {
    this.#chain = this.#chain.then(async () => {
      if (!this.#isSettled) await act();
    });
  }

  #request(line: Request): void {
    if (this.#waiting >= REQUESTS_MOST) {
      const error = new WaybillError(
        "rate_limited",
        `At most ${REQUESTS_MOST} requests of a turn may wait for their answer.`,
      );
      if (line.id === undefined) throw error;
      return this.#answer(line.id, error);
    }
    this.#waiting += 1;
    this.#then(async () => {
      try {
        const value = await carryOut(this.ctx, line);
        if (line.id !== undefined) this.#answer(line.id, value);
      } catch (thrown) {
        // Who gives no id hears no refusal; then the run must not go on as if it had been done.
        if (line.id === undefined) this.fail(thrown);
        else this.#answer(line.id, asWaybillError(thrown));
      } finally {
        this.#waiting -= 1;
      }
    });
  }

  #answer(id: RequestId, answer: object | WaybillError): void {
    if (this.#isOver) return;
    const about = { v: wireVersion, turn: this.id, id };
    if (!(answer instanceof WaybillError)) {
      this.#send({ ...about, type: "result", value: answer });
      return;
    }
    const { code, message, details } = answer;
    this.#send({ ...about, type: "error", code, message, details });
  }
}

async function carryOut(ctx: RunContext, line: Request): Promise<object> {
  switch (line.type) {
    case "progress":
      await ctx.progress(line.text, line.percent);
      return {};
    case "say":
      return ctx.say(line.text);
    case "send":
      return ctx.send(line.to, line.text);
    case "start":
      return ctx.start(line.agent, inputOf(line));
    case "status":
      return ctx.status({ run: line.run });
    case "checkpoint":
      await ctx.checkpoint(line.value);
      return {};
    case "follow_ups":
      return { messages: await ctx.takeSteering() };
    case "remind": {
      const { text, at, in: ms, to, agent } = line;
      return ctx.remind({
        text,
        ...(at === undefined ? {} : { at }),
        ...(ms === undefined ? {} : { in: ms }),
        ...(to === undefined ? {} : { to }),
        ...(agent === undefined ? {} : { agent }),
      });
    }
  }
}

function inputOf({ text, parts, data }: Extract<Request, { type: "start" }>): AgentInput {
  return {
    text,
    ...(parts === undefined ? {} : { parts: parts as NonNullable<AgentInput["parts"]> }),
    ...(data === undefined ? {} : { data }),
  };
}

function usageOf({ inputTokens = 0, outputTokens = 0, steps = 0 }: Extract<TurnLine, { type: "usage" }>) {
  return { inputTokens, outputTokens, steps };
}

function ownError(line: Extract<TurnLine, { type: "error" }>): WaybillError {
  const code = ownCodes.find((known) => known === line.code) ?? "agent_failed";
  return new WaybillError(code, line.message.slice(0, 2_000), { agentCode: line.code ?? null });
}

/** The turn as it is given: everything belongs to it, and nothing of it is said in another way. */
function turnMessage(id: string, ctx: RunContext): object {
  return {
    v: wireVersion,
    type: "turn",
    turn: id,
    text: ctx.text,
    parts: ctx.message.parts,
    message: ctx.message.id,
    sender: ctx.sender,
    history: ctx.history,
    facts: ctx.facts,
    address: ctx.address,
    reply_to: ctx.echo,
    run: ctx.run,
    limits: ctx.limits,
    resumed_from: ctx.resumedFrom,
  };
}
