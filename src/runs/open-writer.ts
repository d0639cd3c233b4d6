import type { ClaimedRun } from "../ledger/run.ts";
import type { StreamHead, StreamWriter } from "../streams/stream.ts";
import type { RunServices } from "./services.ts";

/**
 * Opens the stream of a claimed run. Where that is refused (it has ended, or a later claim writes it) the run goes on
 * without one: its answer is committed and delivered all the same, which matters more than how it is watched.
 */
export function openWriter(s: RunServices, run: ClaimedRun): StreamWriter {
  const head: StreamHead = {
    stream: run.stream,
    root: run.streamRoot,
    run: run.id,
    parent: null,
    epoch: run.fence,
    node: s.owner,
  };
  try {
    return s.streams.open(head);
  } catch (error) {
    s.log.error(
      { run: run.id, stream: run.stream, error: String(error) },
      "a run goes on without its stream",
    );
    return unheard(head);
  }
}

function unheard(head: StreamHead): StreamWriter {
  return { head, append() {}, flush: () => Promise.resolve(), close: () => Promise.resolve() };
}
