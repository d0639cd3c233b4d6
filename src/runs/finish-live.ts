import { planDelivery } from "../deliveries/plan-delivery.ts";
import type { NewDelivery } from "../deliveries/record-delivery.ts";
import { asWaybillError } from "../kernel/errors.ts";
import type { EndState } from "../ledger/end-run.ts";
import { readRun } from "../ledger/read-runs.ts";
import { isTerminal } from "../ledger/run.ts";
import { capsFor } from "../turns/daily-caps.ts";
import type { MemoryItem } from "../turns/memory.ts";
import { noticeOf, noticeText, type Outcome } from "./end-notice.ts";
import { finishRun, type FinishInput, type FinishOutput } from "./finish-run.ts";
import type { LiveRun } from "./live-run.ts";
import { ownMemory } from "./run-context.ts";
import type { RunServices } from "./services.ts";

function planEnd(s: RunServices, live: LiveRun, outcome: Outcome): NewDelivery | null {
  const { run, place, rejected } = live;
  // What was said meanwhile stands below the preview; an answer that was edited into it would stand above.
  const preview = live.saidHere ? null : live.preview;
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

function finishInput(
  s: RunServices,
  live: LiveRun,
  outcome: Outcome,
  delivery: NewDelivery | null,
): FinishInput {
  const { run, place } = live;
  const { input } = run;
  const isAnswer = delivery?.kind === "final";
  return {
    fence: live.fence,
    lane: run.foreground ? run.lane : null,
    takeOver: false,
    state: outcome.state,
    reason: outcome.reason,
    detail: outcome.detail,
    usage: live.usage.steps + live.usage.inputTokens + live.usage.outputTokens > 0 ? live.usage : null,
    delivery,
    removePreview: live.preview === null ? null : { delivery: live.preview, op: s.ids.next("op"), place },
    scope: run.scope,
    // A heartbeat that found nothing to say is no part of the talk; a memory full of them would have forgotten it.
    questions: input.schedule && delivery === null ? [] : questionsOf(live),
    answer: isAnswer ? ownMemory(live, delivery.message.id, live.text) : null,
    tokenSubjects: capsFor(s.caps, place, input.sender.id, run.agent).map((cap) => cap.subject),
  };
}

function questionsOf(live: LiveRun): MemoryItem[] {
  const { parent, replyTo, turn, input } = live.run;
  if (parent !== null || input.again === true) return [];
  const taken = live.steered.map((one) => ({ ...input, text: one.text, parts: one.parts, message: one.id }));
  return [input, ...taken].map((asked) => questionOf(replyTo, turn, asked));
}

/** What a person asked, as their conversation's memory keeps it. */
export function questionOf(address: string, turn: string, input: LiveRun["run"]["input"]): MemoryItem {
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

/** True for a store that may be back in a moment. */
export function isStoreAway(error: unknown): boolean {
  const { code } = asWaybillError(error);
  return code === "store_unavailable" || code === "store_full";
}

/** The longest pause between two tries. */
const PAUSE_MOST_MS = 5_000;

/**
 * Brings a run to its end in the ledger. A live node's runs are nobody else's to end, so this tries until the store
 * takes it, however long it is away; what the store will not take (a text that it cannot keep) is left out, and the run
 * ends as failed.
 * @returns null if the run was lost, or the store was closed: recovery reports it
 */
export async function finishLive(
  s: RunServices,
  live: LiveRun,
  outcome: Outcome,
): Promise<FinishOutput | null> {
  let input = plan(s, live, outcome);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const finished = await s.db.do(finishRun, input);
      s.reach("finish:after-commit");
      tell(s, live, input, finished);
      return finished;
    } catch (thrown) {
      const { code } = asWaybillError(thrown);
      if (code === "run_lost") return attempt === 1 ? null : await endedHere(s, live);
      s.log.error({ run: live.run.id, code, error: String(thrown) }, "a run could not be finished");
      if (code === "shutting_down") return null;
      if (!isStoreAway(thrown)) input = plan(s, live, broken);
    }
    const pause = Math.min(PAUSE_MOST_MS, 50 * 2 ** attempt);
    await new Promise<void>((resolve) => s.clock.after(pause, resolve));
  }
}

const broken: Outcome = { state: "failed", reason: "internal", detail: null };

/** What the end consists of; where that cannot even be said (a channel that throws), the end alone. */
function plan(s: RunServices, live: LiveRun, outcome: Outcome): FinishInput {
  for (const one of [outcome, broken]) {
    try {
      return finishInput(s, live, one, planEnd(s, live, one));
    } catch (error) {
      s.log.error({ run: live.run.id, error: String(error) }, "the end of a run could not be said");
    }
  }
  return finishInput(s, live, broken, null);
}

/** A try whose answer was lost with its connection may have been committed: then the run ended by our own hand. */
async function endedHere(s: RunServices, live: LiveRun): Promise<FinishOutput | null> {
  const run = await readRun(s.db, s.tenant, live.run.id).catch(() => null);
  const isOurs = run?.owner === s.owner && run.fence === live.run.fence;
  if (!run || !isOurs || !isTerminal(run.state)) return null;
  s.hear.posted(run.replyTo);
  s.hear.opsAdded();
  s.hear.runsReady();
  s.hear.runChanged(run.id, run.replyTo, run.state);
  return { state: run.state as EndState, postSeq: null, ready: null, released: [], cancelled: [] };
}

function tell(s: RunServices, live: LiveRun, input: FinishInput, finished: FinishOutput): void {
  const address = live.run.replyTo;
  if (finished.postSeq !== null) s.hear.posted(address);
  if (input.delivery?.mode === "outbox" || input.removePreview) s.hear.opsAdded();
  if (finished.ready !== null || finished.released.length > 0) s.hear.runsReady();
  for (const job of finished.cancelled) s.hear.runChanged(job, address, "cancelled");
  s.hear.runChanged(live.run.id, address, finished.state);
}
