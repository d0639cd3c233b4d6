import type { AgentInput, JsonValue, MessagePart, Reminder, RunContext, RunFact } from "../agents/agent.ts";
import { planDelivery } from "../deliveries/plan-delivery.ts";
import { WaybillError } from "../kernel/errors.ts";
import { relatedId } from "../kernel/ids.ts";
import { noteEvent, storeCheckpoint, storeProgress } from "../ledger/note-run.ts";
import { readPlaceFact } from "../ledger/place-runs.ts";
import { capsFor } from "../turns/daily-caps.ts";
import type { MemoryItem } from "../turns/memory.ts";
import { absorbTurns } from "./absorb-turns.ts";
import { chooseTarget } from "./choose-target.ts";
import { grantTools } from "./grant-tools.ts";
import { toFact, type Known } from "./known.ts";
import { storable, type LiveRun } from "./live-run.ts";
import { mergeChunks } from "./merge-chunks.ts";
import { postFromRun } from "./post-from-run.ts";
import { remind } from "./remind.ts";
import type { RunServices } from "./services.ts";
import { startJob } from "./start-job.ts";

/** What an agent is given: everything belongs to this run, and nothing of it works once the run has ended. */
export function runContext(s: RunServices, live: LiveRun, known: Known): RunContext {
  const { run } = live;
  const { input } = run;
  return {
    text: input.text,
    message: { id: input.message ?? run.turn, parts: input.parts as RunContext["message"]["parts"] },
    sender: input.sender,
    get history() {
      return known.history;
    },
    get facts() {
      return known.facts;
    },
    address: run.replyTo,
    get echo() {
      return s.echoes.sign(run.replyTo, run.turn);
    },
    run: {
      id: run.id,
      turn: run.turn,
      trace: run.trace,
      stream: run.stream,
      attempt: run.attempt,
      agent: run.agent,
    },
    signal: live.abort.signal,
    log: s.log.child({ run: run.id, turn: run.turn, stream: run.stream }),
    limits: run.limits,
    stream: {
      text: (delta) => live.appendText(delta),
      data: (name, value, options) => live.appendData(name, value, options?.id),
      merge: (chunks) => mergeChunks(live, chunks),
    },
    say: (text) => guarded(say(s, live, text)),
    send: (to, text) => guarded(send(s, live, to, text)),
    progress: (text, percent) => guarded(progress(s, live, text, percent)),
    start: (agent, job) => guarded(start(s, live, agent, job)),
    status: ({ run: id }) => guarded(status(s, live, id)),
    checkpoint: (value) => guarded(checkpoint(s, live, value)),
    resumedFrom: run.checkpoint === null ? null : (JSON.parse(run.checkpoint) as JsonValue),
    silent: () => {
      live.silent = true;
    },
    use: (usage) => live.use(usage, run.limits),
    takeSteering: () => guarded(takeSteering(s, live)),
    remind: (reminder) => guarded(remindAt(s, live, reminder)),
    grant: (holder, agentTurn) => guarded(grantTools(s, live, holder, agentTurn)),
  };
}

/**
 * An agent that does not wait for what it asked for (`void ctx.say(...)`) and whose run has ended meanwhile would end the
 * whole process with a rejection that nobody handles. Who awaits it is told all the same.
 */
function guarded<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

async function checkpoint(s: RunServices, live: LiveRun, value: JsonValue): Promise<void> {
  live.checkLive();
  await s.db.do(storeCheckpoint, { fence: live.fence, value: JSON.stringify(value) });
}

/** The text as it can be stored. @throws WaybillError `invalid_request` if there is none */
function textOf(field: string, text: unknown): string {
  if (typeof text === "string" && text.trim() !== "") return storable(text);
  throw new WaybillError("invalid_request", `${field}: give a text that is not empty.`, { field });
}

/** What the agent remembers of a message of its own. */
export function ownMemory(live: LiveRun, message: string, text: string): MemoryItem {
  const { replyTo, id } = live.run;
  return { role: "assistant", text, parts: null, sender: null, origin: message, address: replyTo, run: id };
}

async function say(s: RunServices, live: LiveRun, given: string): Promise<{ delivery: string }> {
  live.checkLive();
  const text = textOf("ctx.say(text)", given);
  const { place, run, rejected } = live;
  const delivery = planDelivery(
    { kind: "say", run: run.id, turn: run.turn, place, text, rule: "turn", rejected },
    s,
  );
  const said = ownMemory(live, delivery.message.id, text);
  const { released } = await s.db.do(postFromRun, { fence: live.fence, delivery, scope: run.scope, said });
  live.saidHere = true;
  live.appendTransient({
    type: "data-said",
    data: { delivery: delivery.id, message: delivery.message.id, text },
  });
  announce(s, delivery.place.address, delivery.mode, released);
  return { delivery: delivery.id };
}

function announce(s: RunServices, address: string, mode: string, released: readonly string[]): void {
  s.hear.posted(address);
  if (mode === "outbox") s.hear.opsAdded();
  if (released.length > 0) s.hear.runsReady();
}

async function send(
  s: RunServices,
  live: LiveRun,
  to: string | undefined,
  given: string,
): Promise<{ delivery: string }> {
  live.checkLive();
  const text = textOf("ctx.send(to, text)", given);
  const { run } = live;
  const target = await choose(s, live, to ?? null);
  const wish = {
    run: run.id,
    turn: run.turn,
    place: target.place,
    text,
    rule: target.rule,
    rejected: live.rejected,
  };
  const delivery = planDelivery({ kind: "send", ...wish }, s);
  const isHere = target.place.address === live.place.address;
  live.saidHere ||= isHere;
  const said = isHere ? ownMemory(live, delivery.message.id, text) : null;
  const { released } = await s.db.do(postFromRun, { fence: live.fence, delivery, scope: run.scope, said });
  announce(s, delivery.place.address, delivery.mode, released);
  return { delivery: delivery.id };
}

/** The destination under the rules; a refusal is an event of the run and changes nothing about where its answer goes. */
async function choose(s: RunServices, live: LiveRun, explicit: string | null) {
  try {
    return await chooseTarget(s, live.place, explicit);
  } catch (error) {
    if (error instanceof WaybillError) await noteRefusal(s, live, explicit, error);
    throw error;
  }
}

async function noteRefusal(
  s: RunServices,
  live: LiveRun,
  explicit: string | null,
  error: WaybillError,
): Promise<void> {
  const rejected = {
    rule: explicit === null ? ("turn" as const) : ("explicit" as const),
    address: explicit ?? live.run.replyTo,
    reason: error.code,
  };
  live.rejected.push(rejected);
  await s.db.do(noteEvent, {
    fence: live.fence,
    kind: "send_refused",
    data: { ...rejected, ...error.details },
  });
}

async function progress(s: RunServices, live: LiveRun, given: string, percent?: number): Promise<void> {
  live.checkLive();
  const text = textOf("ctx.progress(text)", given);
  if (percent !== undefined && !(percent >= 0 && percent <= 100)) {
    throw new WaybillError("invalid_request", "ctx.progress(text, percent): percent is from 0 to 100.", {
      field: "percent",
    });
  }
  const value = { text: text.slice(0, 500), percent: percent === undefined ? null : Math.round(percent) };
  await s.db.do(storeProgress, { fence: live.fence, ...value });
  live.appendTransient({ type: "data-progress", id: `${live.run.stream}:progress`, data: value });
  s.hear.runChanged(live.run.id, live.run.replyTo, "running");
}

async function start(
  s: RunServices,
  live: LiveRun,
  agent: string,
  input: string | AgentInput,
): Promise<{ run: string }> {
  live.checkLive();
  const asked = typeof input === "string" ? { text: input } : input;
  textOf("ctx.start(agent, input)", asked.text);
  const job = s.agents.get(agent);
  const { run } = live;
  const [id, turn] = [s.ids.next("run"), s.ids.next("turn")];
  const stream = relatedId(id, "str");
  const data = asked.data === undefined ? [] : [{ type: "data" as const, name: "input", value: asked.data }];
  const parts = [...(asked.parts ?? [{ type: "text" as const, text: asked.text }]), ...data];
  await s.db.do(startJob, {
    fence: live.fence,
    caps: capsFor(s.caps, live.place, run.input.sender.id, agent),
    job: {
      tenant: s.tenant,
      id,
      agent,
      agentVersion: job.version,
      turn,
      lane: run.lane,
      recovery: job.recovery,
      parent: run.id,
      root: id,
      stream,
      streamRoot: stream,
      trace: run.trace,
      causedBy: run.id,
      origin: run.origin,
      replyTo: run.replyTo,
      scope: run.scope,
      input: { ...run.input, text: asked.text, parts },
      limits: { ...s.runLimits, ...job.limits },
    },
  });
  s.hear.runChanged(id, run.replyTo, "staged");
  return { run: id };
}

async function status(s: RunServices, live: LiveRun, id: string): Promise<RunFact> {
  const found = await readPlaceFact(s.db, s.tenant, live.run.replyTo, id);
  // A run of another conversation is as good as none: its existence is not this one's to know.
  if (!found) {
    throw new WaybillError("unknown_run", `There is no run ${id} in this conversation.`, { run: id });
  }
  return toFact(found);
}

async function remindAt(s: RunServices, live: LiveRun, reminder: Reminder): ReturnType<RunContext["remind"]> {
  live.checkLive();
  const { place } = await choose(s, live, reminder.to ?? null);
  return remind(s, live, reminder, place.address);
}

async function takeSteering(s: RunServices, live: LiveRun): ReturnType<RunContext["takeSteering"]> {
  live.checkLive();
  const { run } = live;
  if (s.followUp !== "steer" || !run.foreground || !s.agents.get(run.agent).steerable) return [];
  const asked = { fence: live.fence, lane: run.lane, agent: run.agent, sender: run.input.sender.id };
  const again = run.attempt > 1 && !live.tookAgain;
  const taken = await s.db.do(absorbTurns, { ...asked, again });
  live.tookAgain ||= again;
  const messages = taken.map(({ id, text, parts }) => ({ id, text, parts: parts as MessagePart[] }));
  live.steered.push(...messages);
  for (const one of taken) s.hear.runChanged(one.run, run.replyTo, "cancelled");
  return messages;
}
