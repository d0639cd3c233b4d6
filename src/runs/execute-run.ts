import type { Agent } from "../agents/agent.ts";
import { openPreview } from "../deliveries/open-preview.ts";
import { askAbort } from "../ledger/ask-abort.ts";
import { renderText } from "../texts/render.ts";
import {
  completed,
  noticeOf,
  noticeText,
  outcomeOfCause,
  outcomeOfError,
  type Outcome,
} from "./end-notice.ts";
import { finishLive, isStoreAway } from "./finish-live.ts";
import type { FinishOutput } from "./finish-run.ts";
import type { LiveRun } from "./live-run.ts";
import { readKnown, type Known } from "./known.ts";
import { runContext } from "./run-context.ts";
import { showLife, type Life } from "./show-life.ts";
import type { RunServices } from "./services.ts";

/**
 * Executes one claimed run to its end. Never throws: whatever happens becomes a state of the ledger, or, where the run
 * was lost to another process, nothing at all.
 */
export async function executeRun(s: RunServices, live: LiveRun, agent: Agent): Promise<void> {
  const log = s.log.child({ run: live.run.id, turn: live.run.turn, stream: live.run.stream });
  const cancelDeadline = armDeadline(s, live);
  let outcome: Outcome;
  let life: Life | null = null;
  try {
    live.writer.append({ type: "start", messageId: live.message });
    s.hear.runChanged(live.run.id, live.run.replyTo, "running");
    await beginPreview(s, live);
    life = showLife(s, live);
    outcome = await runAgent(s, live, agent, await readKnown(s, live));
  } catch (thrown) {
    outcome = outcomeOfError(thrown);
  } finally {
    cancelDeadline();
  }
  if (live.cause) outcome = outcomeOfCause(live.cause);
  live.ended = true;
  await life?.end();
  s.reach("run:before-finish");
  if (outcome.detail) log.warn({ code: outcome.reason, detail: outcome.detail }, "the agent failed");
  const finished = await finishLive(s, live, outcome);
  await closeStream(s, live, finished, outcome);
  if (finished) log.info({ state: finished.state, reason: outcome.reason }, "a run has ended");
  else log.warn({}, "a run was lost; what it did is discarded");
}

/** The pause before a deadline that could not be stored is tried again. */
const DEADLINE_AGAIN_MS = 1_000;

function armDeadline(s: RunServices, live: LiveRun): () => void {
  const { limits, id } = live.run;
  if (limits.wallMs === undefined) return () => {};
  let cancel = (): void => {};
  const expire = (): void => {
    const asked = { tenant: s.tenant, run: id, cause: "deadline" as const, reason: "deadline_exceeded" };
    // Stored first, then signalled.
    s.db.do(askAbort, asked).then(
      () => live.giveUp("deadline"),
      (error: unknown) => {
        s.log.warn({ run: id, error: String(error) }, "a deadline could not be stored");
        if (isStoreAway(error) && !live.ended) cancel = s.clock.after(DEADLINE_AGAIN_MS, expire);
      },
    );
  };
  cancel = s.clock.after(limits.wallMs, expire);
  return () => cancel();
}

async function beginPreview(s: RunServices, live: LiveRun): Promise<void> {
  const sender = s.senders.get(live.place.channel);
  if (!sender?.can.preview || !live.run.foreground || s.allows(live.place) !== true) return;
  const [delivery, op] = [s.ids.next("dlv"), s.ids.next("op")];
  const text = renderText(s.locale, "preview.working", {});
  const { fence, place, run } = live;
  live.preview = await s.db.do(openPreview, {
    fence,
    turn: run.turn,
    delivery,
    op,
    place,
    rule: "turn",
    text,
  });
  s.hear.opsAdded();
}

/** Runs the agent; after an abort it has a short while to end by itself and is then left behind. */
async function runAgent(s: RunServices, live: LiveRun, agent: Agent, known: Known): Promise<Outcome> {
  let cancel = (): void => {};
  const abandoned = new Promise<Outcome>((resolve) => {
    const { signal } = live.abort;
    const arm = (): void => {
      cancel = s.clock.after(s.abortGraceMs, () => resolve(completed));
    };
    // A stop may have come before the agent was called at all.
    if (signal.aborted) arm();
    else signal.addEventListener("abort", arm, { once: true });
  });
  const running = agent.run(runContext(s, live, known)).then(
    () => completed,
    (thrown: unknown) => outcomeOfError(thrown),
  );
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    cancel();
  }
}

/** Ends the stream from what was committed. A lost run's stream is fenced, or ends as interrupted here. */
async function closeStream(
  s: RunServices,
  live: LiveRun,
  finished: FinishOutput | null,
  outcome: Outcome,
): Promise<void> {
  const state = finished?.state ?? "interrupted";
  const last = [...live.closingText(), ...endChunks(s, live, state, outcome.reason)];
  s.reach("stream:before-close");
  try {
    await live.writer.close(state, last);
  } catch (error) {
    s.log.warn({ run: live.run.id, error: String(error) }, "a stream could not be closed");
  }
}

function endChunks(s: RunServices, live: LiveRun, state: Outcome["state"], reason: string | null) {
  if (state === "completed") return [{ type: "finish" }];
  if (state === "cancelled") return [{ type: "abort" }];
  const key = noticeOf(state, reason) ?? "run.failed";
  const text = noticeText(s.locale, key, live.run.id);
  const notice = {
    type: "data-notice",
    id: `${live.run.stream}:notice`,
    data: { key, values: { run: live.run.id }, text },
  };
  return [notice, { type: "error", errorText: text }];
}
