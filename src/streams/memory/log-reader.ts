import { WaybillError } from "../../kernel/errors.ts";
import type { ReadOptions, StreamBatch } from "../stream.ts";
import type { Count } from "./batch.ts";
import type { RootLog } from "./root-log.ts";

/** What remains of a reader for the counts. */
export interface ReaderRecord {
  id: string;
  /** The stream that it reads alone, or undefined for the whole tree. */
  stream: string | undefined;
  from: number;
  /** By stream. */
  sent: ReadonlyMap<string, Count>;
  ended: "open" | "closed" | "left";
}

/** What a reader needs of its store: the log, and to be let go. */
export interface ReaderHost {
  logToRead(root: string): RootLog;
  left(log: RootLog): void;
}

type Result = IteratorResult<StreamBatch, undefined>;

const done: Result = { done: true, value: undefined };

/**
 * One reader of a log: an offset, and a promise where it waits. There is no buffer: the log is the buffer, and a
 * reader that does not ask takes nothing.
 *
 *   new -> open -> closed (was given the end)
 *    |       +---> left (aborted, returned, or had what there was)
 *    +-----------> left
 */
export class LogReader implements AsyncIterator<StreamBatch, undefined>, EventListenerObject {
  readonly id: string;
  readonly stream: string | undefined;
  readonly from: number;
  /** It was given everything up to here. */
  offset: number;
  readonly #root: string;
  readonly #host: ReaderHost;
  readonly #live: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #sent = new Map<string, Count>();
  #log: RootLog | null = null;
  #state: "new" | "open" | "closed" | "left" = "new";
  /** The answer that it waits for. */
  #waiting: PromiseWithResolvers<Result> | null = null;

  constructor(host: ReaderHost, root: string, id: string, options: ReadOptions) {
    this.#host = host;
    this.#root = root;
    this.id = id;
    this.stream = options.stream;
    this.from = options.after ?? 0;
    this.offset = this.from;
    this.#live = options.live ?? true;
    this.#signal = options.signal;
  }

  async next(): Promise<Result> {
    // One that asks again before it was answered gets its answer after the first.
    while (this.#waiting) await this.#waiting.promise;
    if (this.#state === "new") this.#join();
    if (this.#state !== "open") return done;
    const ready = this.#take();
    if (ready) return ready;
    this.#log!.waiting.add(this);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  async return(): Promise<Result> {
    this.handleEvent();
    return done;
  }

  /** The abort signal: it ends at once, also while it waits. */
  handleEvent(): void {
    this.#finish("left");
    this.#stopWaiting()?.resolve(done);
  }

  /** The log has more, or has ended. */
  wake(): void {
    if (this.#waiting === null) return;
    try {
      const ready = this.#take();
      if (ready) this.#stopWaiting()?.resolve(ready);
    } catch (error) {
      this.#finish("left");
      this.#stopWaiting()?.reject(error);
    }
  }

  record(): ReaderRecord {
    const ended = this.#state === "closed" || this.#state === "left" ? this.#state : "open";
    return { id: this.id, stream: this.stream, from: this.from, sent: this.#sent, ended };
  }

  #join(): void {
    if (this.#signal?.aborted) {
      this.#state = "left";
      return;
    }
    const log = this.#host.logToRead(this.#root);
    try {
      log.join(this);
    } catch (error) {
      this.#state = "left";
      this.#host.left(log);
      throw error;
    }
    this.#log = log;
    this.#state = "open";
    this.#signal?.addEventListener("abort", this, { once: true });
  }

  /** The next batch, or null if there is nothing yet. */
  #take(): Result | null {
    const log = this.#log!;
    if (log.forgotten) {
      this.#finish("left");
      throw new WaybillError(
        "unknown_stream",
        `The log of ${this.#root} was removed by retention while it was being read. Read the committed messages instead.`,
        { stream: this.#root },
      );
    }
    const { batch, counts } = log.take(this.offset, this.stream);
    this.offset = batch.next;
    if (batch.events.length === 0 && !batch.ended && this.#live) return null;
    for (const [stream, { events, bytes }] of counts) {
      const sent = this.#sent.get(stream);
      if (sent) {
        sent.events += events;
        sent.bytes += bytes;
      } else {
        this.#sent.set(stream, { events, bytes });
      }
    }
    if (batch.ended) this.#finish("closed");
    else if (!this.#live && batch.next === log.lastOffset) this.#finish("left");
    return { done: false, value: batch };
  }

  #finish(how: "closed" | "left"): void {
    if (this.#state !== "open") {
      if (this.#state === "new") this.#state = how;
      return;
    }
    this.#state = how;
    this.#signal?.removeEventListener("abort", this);
    this.#log!.leave(this);
    this.#host.left(this.#log!);
  }

  #stopWaiting(): PromiseWithResolvers<Result> | null {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#log?.waiting.delete(this);
    return waiting;
  }
}
