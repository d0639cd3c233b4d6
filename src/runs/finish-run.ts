import { command, type CommandEnv, type Program } from "../db/command.ts";
import { addOp, recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import type { Place } from "../deliveries/post-message.ts";
import {
  cancelJobs,
  endRun,
  hold,
  releaseJobs,
  type EndState,
  type HeldRun,
  type RunEnd,
} from "../ledger/end-run.ts";
import { lockLane } from "../ledger/lanes.ts";
import type { Fence } from "../ledger/run.ts";
import { countTokens } from "../turns/daily-caps.ts";
import { remember, rememberQuestion, type MemoryItem } from "../turns/memory.ts";

export interface FinishInput {
  fence: Fence;
  /** Of a foreground run: another of this lane may be next. Null for a job. */
  lane: string | null;
  /** The node of `fence.owner` is dead and this process ends the run for it: `fence + 1`, so it can write no more. */
  takeOver: boolean;
  state: EndState;
  /** An error code or an abort cause; what people read of it comes from the catalogue. */
  reason: string | null;
  /** For operators, in the run's last event. */
  detail: string | null;
  usage: { inputTokens: number; outputTokens: number; steps: number } | null;
  /** The answer, or the notice that says what became of it. */
  delivery: NewDelivery | null;
  /** A preview that nothing will be edited into, and so goes away. */
  removePreview: { delivery: string; op: string; place: Place } | null;
  scope: string;
  /** What a person asked: the run's own message, then those that it took in while it ran. */
  questions: MemoryItem[];
  answer: MemoryItem | null;
  tokenSubjects: string[];
}

export interface FinishOutput {
  state: EndState;
  postSeq: number | null;
  /** The run of the same lane that may be claimed now. */
  ready: string | null;
  released: string[];
  cancelled: string[];
}

/**
 * The hinge: terminal state, final message and delivery are one transaction, guarded by the fence. The address of the
 * delivery is the turn's. Tokens are outside of it; the stream is closed afterwards, from what was committed here.
 * @throws WaybillError `run_lost`: nothing of it happened
 */
export const finishRun = command(
  "runs.finish-run",
  function* (input: FinishInput, env): Program<FinishOutput> {
    const { fence } = input;
    if (input.lane !== null) yield* lockLane(fence.tenant, input.lane, env);
    const held = yield* hold(fence, input.takeOver);
    // A cancel that was stored before this commit wins: a late result never turns a cancelled run into a completed one.
    const asked = held.abortCause === "cancel" || held.abortCause === "parent";
    const cancelled = asked && input.state !== "cancelled";
    const state = asked ? "cancelled" : input.state;
    const delivery = cancelled ? null : input.delivery;

    const posted = delivery ? yield* recordDelivery(delivery, env.now) : null;
    if (delivery?.preview !== true) yield* takePreviewAway(input, env);
    for (const question of input.questions)
      yield* rememberQuestion(fence.tenant, input.scope, question, env.now);
    if (input.answer && !cancelled) yield* remember(fence.tenant, input.scope, input.answer, env.now);
    const jobs = yield* settleJobs(input, state, delivery, env);
    const reason = asked ? (held.reason ?? held.abortCause) : input.reason;
    const detail = cancelled ? null : input.detail;
    const ready = yield* end(input, held, { state, reason, detail }, delivery, env);
    const tokens = (input.usage?.inputTokens ?? 0) + (input.usage?.outputTokens ?? 0);
    if (tokens > 0) yield* countTokens(fence.tenant, input.tokenSubjects, tokens, env.now);
    env.reach("finish:before-commit");
    return { state, postSeq: posted?.postSeq ?? null, ready, ...jobs };
  },
);

function* end(
  input: FinishInput,
  held: HeldRun,
  how: Pick<RunEnd, "state" | "reason" | "detail">,
  delivery: NewDelivery | null,
  env: CommandEnv,
): Program<string | null> {
  return yield* endRun(
    input.fence,
    held,
    {
      ...how,
      usage: input.usage,
      postedIn: delivery?.mode === "posted" ? delivery.place.address : null,
      bumpFence: input.takeOver,
    },
    env,
  );
}

/** Jobs begin with a message that people can see; a run that ends without one takes them with it. */
function* settleJobs(
  input: FinishInput,
  state: EndState,
  delivery: NewDelivery | null,
  env: CommandEnv,
): Program<{ released: string[]; cancelled: string[] }> {
  const { tenant, run } = input.fence;
  if (state === "completed" && delivery && delivery.mode !== "blocked") {
    return { released: yield* releaseJobs(tenant, run, env.now), cancelled: [] };
  }
  return { released: [], cancelled: yield* cancelJobs(tenant, run, env) };
}

function* takePreviewAway(input: FinishInput, env: CommandEnv): Program<void> {
  if (!input.removePreview) return;
  const { delivery, op, place } = input.removePreview;
  const removal = {
    tenant: input.fence.tenant,
    id: op,
    delivery,
    place,
    kind: "delete",
    part: 0,
    text: "",
  } as const;
  yield* addOp({ ...removal, state: "pending", reason: null }, env.now);
}
