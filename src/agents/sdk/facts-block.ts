import type { RunContext, RunFact } from "../agent.ts";
import { replyToRule } from "../turn-prompt.ts";

/** So many runs are told of; live ones come first in `ctx.facts`, so what is left out is finished and old. */
const factsTold = 50;

/**
 * What a model is told about the place: the ledger's facts about its runs, as JSON, and how to use them. The run that
 * asks is not among them, or the model would report its own answer as a job. So a status question that reaches a
 * model is answered from the ledger, and not from memory.
 */
export function factsBlock(ctx: RunContext): string {
  const facts = ctx.facts.filter((fact) => fact.run !== ctx.run.id);
  const told = facts.slice(0, factsTold).map(toldFact);
  const rest = facts.length - told.length;
  return [
    "Jobs of this conversation, from the ledger (JSON; times are UTC):",
    JSON.stringify(told),
    ...(rest > 0 ? [`${rest} older finished ones are not listed.`] : []),
    "Nothing else is known about jobs here. Answer questions about a job's state only from this list, with its state,",
    "since when, its progress and its reason. If the job is not in the list, say that there is no record of it in this",
    "conversation. Never make up a state, a time or progress.",
    replyToRule,
  ].join("\n");
}

function toldFact(fact: RunFact) {
  return {
    run: fact.run,
    agent: fact.agent,
    state: fact.state,
    since: fact.finishedAt ?? fact.startedAt ?? fact.asked,
    asked: fact.asked,
    progress: fact.progress,
    reason: fact.reason,
    background: fact.background,
  };
}
