import { command, type CommandEnv, type Program } from "../db/command.ts";
import { postMessage, type Place } from "../deliveries/post-message.ts";
import { withText } from "../deliveries/plan-delivery.ts";
import { recordDelivery, type NewDelivery } from "../deliveries/record-delivery.ts";
import { abortPlace, type AskedAbort } from "../ledger/ask-abort.ts";
import { enterLane } from "../ledger/lanes.ts";
import { placeRunsNow } from "../ledger/place-runs.ts";
import { recordTurn } from "../ledger/record-run.ts";
import { sayStatus } from "../ledger/say-status.ts";
import { renderText, type Locale } from "../texts/render.ts";
import { once, type IdempotencyKey } from "./idempotency.ts";
import type { Accepted } from "./incoming.ts";
import { forget } from "./memory.ts";
import type { ReservedWord } from "./reserved-words.ts";
import { noteSeen } from "./slots.ts";

export interface AnswerWordInput {
  tenant: string;
  key: IdempotencyKey | null;
  word: ReservedWord;
  turn: string;
  place: Place;
  message: { id: string; platformId: string; text: string; parts: string };
  /** True: the message was posted before, and is answered anew. */
  stands: boolean;
  sender: { id: string; name: string | null; principal: string | null };
  scope: string;
  locale: Locale;
  /** What the person is told of files that were left out. */
  notices: readonly NewDelivery[];
  /** True where the operator switched the slots on. */
  slots: boolean;
  /** Where and how the reply goes; its text is made here, from the ledger. */
  reply: NewDelivery;
}

/** How many runs of a place are looked at for a status. */
const LOOKED_AT = 20;

/**
 * A reserved word is answered before queue, steering and model, in one commit with what it does. It has a turn and a
 * delivery, but no run: nothing is executed.
 */
export const answerWord = command("turns.answer-word", function* (input: AnswerWordInput, env) {
  const { tenant, place } = input;
  const accepted: Accepted = {
    turn: input.turn,
    run: null,
    stream: null,
    address: input.reply.place.address,
    message: input.message.id,
    outcome: "replied",
    repeated: false,
  };
  const nothing: AskedAbort[] = [];
  if (input.key) {
    const before = yield* once(tenant, input.key, accepted, env.now);
    if (before) return { accepted: { ...before, repeated: true }, aborts: nothing };
  }
  const laneSeq = yield* enterLane(tenant, place.address);
  // Before anything is posted: `stop` locks runs, and runs are locked before conversations.
  const { text, aborts } = yield* doWord(input, env);
  yield* recordWord(input, laneSeq, env);
  if (input.slots) yield* noteSeen(tenant, place, env.now);
  for (const notice of input.notices) yield* recordDelivery(notice, env.now);
  yield* recordDelivery(withText(input.reply, text), env.now);
  env.reach("accept:before-commit");
  return { accepted, aborts };
});

function* recordWord(input: AnswerWordInput, laneSeq: number, env: CommandEnv): Program<void> {
  const { tenant, place, message, sender, turn } = input;
  yield* recordTurn(
    {
      tenant,
      id: turn,
      kind: "message",
      address: input.reply.place.address,
      lane: place.address,
      laneSeq,
      message: message.id,
      sender,
      causedBy: null,
    },
    env.now,
  );
  if (input.stands) return;
  const said = {
    tenant,
    ...message,
    place,
    role: "user",
    notice: null,
    turn,
    run: null,
    delivery: null,
    sender,
  } as const;
  yield* postMessage(said, env.now);
}

function* doWord(input: AnswerWordInput, env: CommandEnv): Program<{ text: string; aborts: AskedAbort[] }> {
  const { tenant, place, locale } = input;
  switch (input.word) {
    case "help":
      return { text: renderText(locale, "help.text", {}), aborts: [] };
    case "new":
      yield* forget(tenant, input.scope, env.now);
      return { text: renderText(locale, "new.done", {}), aborts: [] };
    case "status": {
      const runs = yield* placeRunsNow({ tenant, address: place.address, limit: LOOKED_AT });
      return { text: sayStatus(runs, env.now, locale), aborts: [] };
    }
    case "stop": {
      const asked = yield* abortPlace({ tenant, address: place.address, reason: "cancel" }, env);
      const stopped = asked.filter((one) => one.how !== "ended");
      const text =
        stopped.length === 0
          ? renderText(locale, "stop.nothing", {})
          : renderText(locale, "stop.done", { count: stopped.length });
      return { text, aborts: stopped };
    }
  }
}
