import type { MessagePart, RunLimits, UIChunk, Usage } from "../agents/agent.ts";
import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import type { Place } from "../deliveries/post-message.ts";
import type { Rejected } from "../deliveries/sender.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { AbortCause, ClaimedRun, Fence } from "../ledger/run.ts";
import type { StreamWriter } from "../streams/stream.ts";

/** The data parts that an answer keeps when it is committed; more than this is a flood. */
const DATA_PARTS_MOST = 200;

/** A text that every store keeps: Postgres keeps no NUL, and what holds one would be lost with its commit. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

/** A run while this process executes it: what it has said so far, and how it is stopped. */
export class LiveRun {
  readonly run: ClaimedRun;
  readonly fence: Fence;
  readonly place: Place;
  /** The id that the final message will have; the stream names it from the start. */
  readonly message: string;
  readonly writer: StreamWriter;
  readonly abort = new AbortController();
  readonly usage: Usage = { inputTokens: 0, outputTokens: 0, steps: 0 };
  /** Targets that were refused; each later delivery of this run tells of them. */
  readonly rejected: Rejected[] = [];
  /** Messages that came while it ran and that it answers too. */
  readonly steered: { id: string; text: string; parts: MessagePart[] }[] = [];
  /** What an earlier attempt had taken in has been given to this one. */
  tookAgain = false;
  cause: AbortCause | null = null;
  silent = false;
  ended = false;
  preview: string | null = null;
  /** Something else was posted in the turn's own place before the answer. */
  saidHere = false;
  #text = "";
  #textOpen = false;
  readonly #data = new Map<string, MessagePart & { type: "data" }>();
  readonly #answerLimit: number;

  constructor(
    run: ClaimedRun,
    tenant: string,
    owner: string,
    message: string,
    writer: StreamWriter,
    answerLimit: number,
  ) {
    this.run = run;
    this.fence = { tenant, run: run.id, owner, fence: run.fence };
    this.place = placeOf(parseAddress(run.replyTo), run.input.kind as ConversationKind);
    this.message = message;
    this.writer = writer;
    this.#answerLimit = answerLimit;
  }

  get text(): string {
    return this.#text;
  }

  get textId(): string {
    return `${this.run.stream}:text`;
  }

  /** The parts of the answer as it stands: its text, then what data came beside it. */
  parts(): MessagePart[] {
    const text: MessagePart[] = this.#text === "" ? [] : [{ type: "text", text: this.#text }];
    return [...text, ...this.#data.values()];
  }

  /** @throws WaybillError `run_lost` once the run has ended here: a late delta changes nothing. */
  checkLive(): void {
    if (!this.ended) return;
    throw new WaybillError("run_lost", `The run ${this.run.id} has ended; nothing more can be said in it.`, {
      run: this.run.id,
    });
  }

  appendText(given: string): void {
    this.checkLive();
    if (given === "") return;
    const delta = storable(given);
    if (this.#text.length + delta.length > this.#answerLimit) {
      throw new WaybillError(
        "agent_output_too_large",
        `The answer is longer than ${this.#answerLimit} characters. Post long output in pieces with ctx.say, or as a file.`,
        { limit: this.#answerLimit },
      );
    }
    if (!this.#textOpen) {
      this.#textOpen = true;
      this.writer.append({ type: "text-start", id: this.textId });
    }
    this.#text += delta;
    this.writer.append({ type: "text-delta", id: this.textId, delta });
  }

  appendData(name: string, value: unknown, id: string | undefined): void {
    this.checkLive();
    const key = `${name}:${id ?? this.#data.size}`;
    const isNew = !this.#data.has(key);
    if (isNew && this.#data.size >= DATA_PARTS_MOST) {
      throw new WaybillError(
        "agent_output_too_large",
        `An answer has at most ${DATA_PARTS_MOST} data parts.`,
        {
          limit: DATA_PARTS_MOST,
        },
      );
    }
    this.#data.set(key, { type: "data", name, value: value as never, ...(id === undefined ? {} : { id }) });
    const scoped = id === undefined ? {} : { id: `${this.run.stream}:${id}` };
    this.writer.append({ type: `data-${name}`, ...scoped, data: value });
  }

  /** Anything of the wire format that is neither text nor data of ours: reasoning, tools, sources. */
  appendChunk(chunk: UIChunk): void {
    this.checkLive();
    this.writer.append(chunk);
  }

  /** Shown to readers, not part of the answer. */
  appendTransient(chunk: UIChunk): void {
    if (!this.ended) this.writer.append({ ...chunk, transient: true });
  }

  /** The chunk that ends the text part, if one is open. */
  closingText(): UIChunk[] {
    return this.#textOpen ? [{ type: "text-end", id: this.textId }] : [];
  }

  use(more: Partial<Usage>, limits: RunLimits): void {
    this.usage.inputTokens += more.inputTokens ?? 0;
    this.usage.outputTokens += more.outputTokens ?? 0;
    this.usage.steps += more.steps ?? 0;
    const tokens = this.usage.inputTokens + this.usage.outputTokens;
    if (limits.tokens !== undefined && tokens > limits.tokens) {
      throw new WaybillError(
        "token_limit",
        `The run has used ${tokens} tokens; its limit is ${limits.tokens}.`,
        {
          limit: limits.tokens,
          used: tokens,
        },
      );
    }
    if (limits.steps !== undefined && this.usage.steps > limits.steps) {
      throw new WaybillError("step_limit", `The run has made more than ${limits.steps} model calls.`, {
        limit: limits.steps,
      });
    }
  }

  /** Gives the signal. The cause must have been stored before. The first cause stays. */
  giveUp(cause: AbortCause): void {
    if (this.cause !== null || this.ended) return;
    this.cause = cause;
    this.abort.abort(
      new WaybillError("run_lost", `The run was ended: ${cause}.`, { run: this.run.id, cause }),
    );
  }
}
