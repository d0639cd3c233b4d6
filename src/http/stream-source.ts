import { readFinalMessage } from "../deliveries/read-messages.ts";
import { WaybillError } from "../kernel/errors.ts";
import { readRunOfStream, type RunRecord } from "../ledger/read-runs.ts";
import { isTerminal } from "../ledger/run.ts";
import type { ReadOptions, StreamBatch } from "../streams/stream.ts";
import type { Locale } from "../texts/render.ts";
import { closedStream } from "./closed-stream.ts";
import type { HttpPorts } from "./ports.ts";

/**
 * A stream that can be read, wherever its events are: in this process's log; not begun yet, since its run is queued; or
 * gone, since its run has ended, and then told from what was committed.
 */
export interface StreamSource {
  id: string;
  root: string;
  read(options: Omit<ReadOptions, "stream">): AsyncIterable<StreamBatch>;
}

/** How often the run of a stream that has not begun here is looked up, beside the hints. */
const lookMs = 5_000;

/** @throws WaybillError `unknown_stream` */
export async function openSource(ports: HttpPorts, id: string, locale: Locale): Promise<StreamSource> {
  const { streams } = ports;
  const root = streams.rootOf(id);
  if (root !== null) {
    const stream = root === id ? undefined : id;
    return { id, root, read: (options) => streams.read(root, { ...options, stream }) };
  }
  const run = await readRunOfStream(ports.db, ports.tenant, id);
  if (!run) {
    throw new WaybillError("unknown_stream", `There is no stream ${id}, or it is no longer kept.`, {
      stream: id,
    });
  }
  const read = isTerminal(run.state) ? readClosed : readUnbegun;
  return { id, root: run.streamRoot, read: (options) => read(ports, run, options, locale) };
}

async function* readClosed(
  ports: HttpPorts,
  run: RunRecord,
  options: Omit<ReadOptions, "stream">,
  locale: Locale,
): AsyncGenerator<StreamBatch> {
  const message = await readFinalMessage(ports.db, ports.tenant, run.id);
  yield closedStream(run, message, options.after ?? 0, locale);
}

/** Waits at the log; but a run that is cancelled before it begins, or that another node executes, never opens it here. */
async function* readUnbegun(
  ports: HttpPorts,
  run: RunRecord,
  options: Omit<ReadOptions, "stream">,
  locale: Locale,
): AsyncGenerator<StreamBatch> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const stream = run.streamRoot === run.stream ? undefined : run.stream;
  const log = ports.streams.read(run.streamRoot, { ...options, stream, signal })[Symbol.asyncIterator]();
  const watch = watchEnd(ports, run);
  try {
    let result = await Promise.race([log.next(), watch.ended]);
    watch.stop();
    if ("state" in result) {
      stop.abort();
      yield* readClosed(ports, result, options, locale);
      return;
    }
    for (; !result.done; result = await log.next()) yield result.value;
  } finally {
    watch.stop();
    stop.abort();
  }
}

/** Resolves with the run once it has ended without a log here. */
function watchEnd(ports: HttpPorts, run: RunRecord): { ended: Promise<RunRecord>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<RunRecord>();
  let stopped = false;
  let cancelTimer = (): void => {};
  const look = async (): Promise<void> => {
    if (stopped || ports.streams.rootOf(run.stream) !== null) return;
    const now = await readRunOfStream(ports.db, ports.tenant, run.stream).catch(() => null);
    if (now && isTerminal(now.state) && ports.streams.rootOf(run.stream) === null) resolve(now);
  };
  const lookLater = (): void => {
    cancelTimer = ports.clock.after(lookMs, () => {
      void look();
      if (!stopped) lookLater();
    });
  };
  const unsubscribe = ports.feed.subscribe(run.replyTo, (hint) => {
    if (hint.kind === "run" && hint.run === run.id) void look();
  });
  lookLater();
  void look();
  return {
    ended: promise,
    stop() {
      stopped = true;
      cancelTimer();
      unsubscribe();
    },
  };
}
