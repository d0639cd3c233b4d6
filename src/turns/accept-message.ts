import { command, type CommandEnv, type Program } from "../db/command.ts";
import { postMessage, type Place } from "../deliveries/post-message.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import { interruptRun, type AskedAbort } from "../ledger/ask-abort.ts";
import { enterLane, headOfLane, lockRun } from "../ledger/lanes.ts";
import { recordRun, recordTurn, type NewRun, type TurnKind } from "../ledger/record-run.ts";
import { countUse, type DailyCap } from "./daily-caps.ts";
import { amendAnswer, once, type IdempotencyKey } from "./idempotency.ts";
import type { Accepted } from "./incoming.ts";
import { noteSlots } from "./slots.ts";

export type FollowUp = "queue" | "steer" | "interrupt";

export interface AcceptInput {
  tenant: string;
  key: IdempotencyKey | null;
  place: Place;
  /** What kind of turn it is, where it is not a message, and what caused it. */
  turn?: { kind: TurnKind; causedBy: string };
  /** Null when no person says anything: an answer is wished anew, or the clock asks. */
  message: { id: string; platformId: string; text: string; parts: string } | null;
  sender: { id: string; name: string | null; principal: string | null };
  run: Omit<NewRun, "ready" | "laneSeq">;
  followUp: FollowUp;
  caps: readonly DailyCap[];
  /** Posted when a cap is reached; no run is made then. */
  capReply: NewDelivery | null;
  /** What the person is told of files that were left out, in the same commit. */
  notices?: readonly NewDelivery[];
  /** True: with what was left out nothing remains that an agent could answer, so no run is made. */
  empty?: boolean;
  /** For an agent whose answers are jobs: what is posted at once, in the same commit. */
  acknowledge: NewDelivery | null;
  /** The account whose slots follow what is said, where the operator switched them on. */
  slots: boolean;
}

export interface AcceptOutput {
  accepted: Accepted;
  /** Posts that this made, for live feeds. */
  posted: boolean;
  aborts: AskedAbort[];
}

/**
 * Turn and run in one commit: the address is fixed from here on, and what is accepted is never lost. Seen before: the
 * answer of the first time, and nothing twice.
 */
export const acceptMessage = command(
  "turns.accept-message",
  function* (input: AcceptInput, env): Program<AcceptOutput> {
    const { tenant, run, place } = input;
    const accepted: Accepted = {
      turn: run.turn,
      run: run.id,
      stream: run.stream,
      address: run.replyTo,
      message: input.message?.id ?? run.input.message ?? "",
      outcome: "queued",
      repeated: false,
    };
    if (input.key) {
      const before = yield* once(tenant, input.key, accepted, env.now);
      if (before) return { accepted: { ...before, repeated: true }, posted: false, aborts: [] };
    }
    const laneSeq = yield* enterLane(tenant, run.lane);
    const head = run.foreground ? yield* headOfLane(tenant, run.lane) : undefined;
    // It is interrupted below, after what was said is posted; runs are locked before conversations.
    if (input.followUp === "interrupt" && head) yield* lockRun(tenant, head.id, env);
    yield* recordWhatWasSaid(input, laneSeq, env);
    if (input.slots) yield* noteSlots(tenant, place, env.now);
    for (const notice of input.notices ?? []) yield* recordDelivery(notice, env.now);
    if (input.empty === true) return yield* replyOnly(input, accepted, null, env);
    if (yield* countUse(tenant, input.caps, env.now)) {
      return yield* replyOnly(input, accepted, input.capReply, env);
    }

    const ready = run.state === "queued" && head === undefined;
    yield* recordRun({ ...run, laneSeq, ready }, env.now);
    if (input.acknowledge) yield* recordDelivery(input.acknowledge, env.now);
    const aborts: AskedAbort[] = [];
    if (input.followUp === "interrupt" && head) {
      const asked = yield* interruptRun(tenant, head.id, env);
      if (asked) aborts.push(asked);
    }
    env.reach("accept:before-commit");
    return { accepted, posted: true, aborts };
  },
);

function* recordWhatWasSaid(input: AcceptInput, laneSeq: number, env: CommandEnv): Program<void> {
  const { tenant, run, place, message, sender } = input;
  yield* recordTurn(
    {
      tenant,
      id: run.turn,
      kind: input.turn?.kind ?? "message",
      address: run.replyTo,
      lane: run.lane,
      laneSeq,
      message: message?.id ?? run.input.message,
      sender,
      causedBy: input.turn?.causedBy ?? run.causedBy,
    },
    env.now,
  );
  if (!message) return;
  yield* postMessage(
    {
      tenant,
      id: message.id,
      place,
      role: "user",
      text: message.text,
      parts: message.parts,
      notice: null,
      turn: run.turn,
      run: null,
      delivery: null,
      platformId: message.platformId,
      sender,
    },
    env.now,
  );
}

/** The message was answered at once, and no run was made for it. */
function* replyOnly(
  input: AcceptInput,
  accepted: Accepted,
  reply: NewDelivery | null,
  env: CommandEnv,
): Program<AcceptOutput> {
  const replied: Accepted = { ...accepted, run: null, stream: null, outcome: "replied" };
  if (reply) yield* recordDelivery(reply, env.now);
  if (input.key) yield* amendAnswer(input.tenant, input.key, replied);
  env.reach("accept:before-commit");
  return { accepted: replied, posted: true, aborts: [] };
}
