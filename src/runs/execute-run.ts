import type { Agent } from "../agents/agent.ts";
import { planDelivery } from "../deliveries/plan-delivery.ts";
import { openPreview } from "../deliveries/open-preview.ts";
import type { NewDelivery } from "../deliveries/record-delivery.ts";
import { WaybillError } from "../kernel/errors.ts";
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
import { finishRun, type FinishInput, type FinishOutput } from "./finish-run.ts";
import type { LiveRun } from "./live-run.ts";
import { readKnown, type Known } from "./known.ts";
import { ownMemory, runContext } from "./run-context.ts";
import type { RunServices } from "./services.ts";

/**
 * Executes one claimed run to its end. Never throws: whatever happens becomes a state of the ledger, or, where the run
 * was lost to another process, nothing at all.
 */
export async function executeRun(s: RunServices, live: LiveRun, agent: Agent): Promise<void> {
  const log = s.log.child({ run: live.run.id, turn: live.run.turn, stream: live.run.stream });
  const cancelDeadline = armDeadline(s, live);
  let outcome: Outcome;
  try {
    live.writer.append({ type: "start", messageId: live.message });
    s.hear.runChanged(live.run.id, live.run.replyTo, "running");
    await beginPreview(s, live);
    outcome = await runAgent(s, live, agent, await readKnown(s, live));
  } catch (thrown) {
    outcome = outcomeOfError(thrown);
  } finally {
    cancelDeadline();
  }
  if (live.cause) outcome = outcomeOfCause(live.cause);
  live.ended = true;
  s.reach("run:before-finish");
  if (outcome.detail) log.warn({ code: outcome.reason, detail: outcome.detail }, "the agent failed");
  const finished = await finish(s, live, outcome);
  await closeStream(s, live, finished, outcome);
  if (finished) log.info({ state: finished.state, reason: outcome.reason }, "a run has ended");
  else log.warn({}, "a run was lost; what it did is discarded");
}

function armDeadline(s: RunServices, live: LiveRun): () => void {
  const { limits, id } = live.run;
  if (limits.wallMs === undefined) return () => {};
  return s.clock.after(limits.wallMs, () => {
    const asked = { tenant: s.tenant, run: id, cause: "deadline" as const, reason: "deadline_exceeded" };
    // Stored first, then signalled; if it cannot be stored the run has ended, or the store is away and the lease decides.
    s.db.do(askAbort, asked).then(
      () => live.giveUp("deadline"),
      (error: unknown) => s.log.warn({ run: id, error: String(error) }, "a deadline could not be stored"),
    );
  });
}

async function beginPreview(s: RunServices, live: LiveRun): Promise<void> {
  const sender = s.senders.get(live.place.channel);
  if (!sender?.can.preview || !live.run.foreground || s.allows(live.place) !== true) return;
  const [delivery, op] = [s.ids.next("dlv"), s.ids.next("op")];
  const text = renderText(s.locale, "preview.working", {});
  const { fence, place, run } = live;
  await s.db.do(openPreview, { fence, turn: run.turn, delivery, op, place, rule: "turn", text });
  live.preview = delivery;
  s.hear.opsAdded();
}

/** Runs the agent; after an abort it has a short while to end by itself and is then left behind. */
async function runAgent(s: RunServices, live: LiveRun, agent: Agent, known: Known): Promise<Outcome> {
  let cancel = (): void => {};
  const abandoned = new Promise<Outcome>((resolve) => {
    live.abort.signal.addEventListener("abort", () => {
      cancel = s.clock.after(s.abortGraceMs, () => resolve(completed));
    });
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

function planEnd(s: RunServices, live: LiveRun, outcome: Outcome): NewDelivery | null {
  const { run, place, rejected, preview } = live;
  const base = { run: run.id, turn: run.turn, place, rule: "turn" as const, rejected, preview };
  const key = noticeOf(outcome.state, outcome.reason);
  if (key) {
    const notice = { key, values: { run: run.id } };
    return planDelivery({ kind: "notice", ...base, text: noticeText(s.locale, key, run.id), notice }, s);
  }
  if (outcome.state !== "completed" || live.silent) return null;
  const parts = live.parts();
  const shows =
    live.text.trim() !== "" || (parts.length > 0 && s.senders.get(place.channel)?.inTransaction === true);
  if (!shows) return null;
  const wish = { text: live.text, parts: JSON.stringify({ v: 1, parts }), message: live.message };
  return planDelivery({ kind: "final", ...base, ...wish }, s);
}

function finishInput(s: RunServices, live: LiveRun, outcome: Outcome): FinishInput {
  const { run, place } = live;
  const { input } = run;
  const delivery = planEnd(s, live, outcome);
  const isAnswer = delivery?.kind === "final";
  return {
    fence: live.fence,
    takeOver: false,
    state: outcome.state,
    reason: outcome.reason,
    detail: outcome.detail,
    usage: live.usage.steps + live.usage.inputTokens + live.usage.outputTokens > 0 ? live.usage : null,
    delivery,
    removePreview: live.preview === null ? null : { delivery: live.preview, op: s.ids.next("op"), place },
    scope: run.scope,
    question: run.parent === null ? questionOf(run.replyTo, run.turn, input) : null,
    answer: isAnswer ? ownMemory(live, delivery.message.id, live.text) : null,
    tokenSubjects: s.countsTokens
      ? [`sender:${place.channel}:${place.account}/${input.sender.id}`, `agent:${run.agent}`]
      : [],
  };
}

/** What a person asked, as their conversation's memory keeps it. */
export function questionOf(
  address: string,
  turn: string,
  input: LiveRun["run"]["input"],
): FinishInput["question"] {
  const onlyText = input.parts.every((part) => part.type === "text");
  return {
    role: "user",
    text: input.text,
    parts: onlyText ? null : JSON.stringify(input.parts),
    sender: input.sender.name ?? input.sender.id,
    origin: input.message ?? turn,
    address,
    run: null,
  };
}

/** Tries of a finish while the store is away; after that the lease runs out and recovery reports the run. */
const FINISH_TRIES = 8;

async function finish(s: RunServices, live: LiveRun, outcome: Outcome): Promise<FinishOutput | null> {
  const input = finishInput(s, live, outcome);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const finished = await s.db.do(finishRun, input);
      s.reach("finish:after-commit");
      tell(s, live, input, finished);
      return finished;
    } catch (error) {
      const code = error instanceof WaybillError ? error.code : "internal";
      const isAway = code === "store_unavailable" || code === "store_full";
      if (!isAway || attempt >= FINISH_TRIES) {
        if (code !== "run_lost")
          s.log.error({ run: live.run.id, code, error: String(error) }, "a run could not be finished");
        return null;
      }
      await new Promise<void>((resolve) => s.clock.after(100 * 2 ** attempt, resolve));
    }
  }
}

function tell(s: RunServices, live: LiveRun, input: FinishInput, finished: FinishOutput): void {
  const address = live.run.replyTo;
  if (finished.postSeq !== null) s.hear.posted(address);
  if (input.delivery?.mode === "outbox" || input.removePreview) s.hear.opsAdded();
  if (finished.ready !== null || finished.released.length > 0) s.hear.runsReady();
  s.hear.runChanged(live.run.id, address, finished.state);
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
