import { WaybillError } from "../kernel/errors.ts";
import type { Grant, GrantedRun } from "../ledger/grants.ts";
import type { EchoedTurn } from "./echo.ts";

/** What a call says of the turn that it belongs to; all of it only selects among the runs of its grant. */
export interface TurnHint {
  /** A signed echo that was handed back, read and found to be ours. */
  echo: EchoedTurn | null;
  /** The agent's own id of its turn. It counts only if we recorded it when that turn began. */
  agentTurn: string | null;
}

/** Chosen, or the turn that was named is none that may be acted for now. */
export type Selection = { run: GrantedRun } | { absent: EchoedTurn };

/**
 * Which of a grant's runs a call belongs to (decision 0012).
 *
 * 1. The echo names a turn: that turn's run, if it is one of the grant's.
 * 2. The agent's own turn id names one that we recorded.
 * 3. Nothing is named: only a grant whose runs were all due at one address ever is clear enough. Its live run, else the
 *    one that ended last within the grace time. A holder that has worked for two addresses may be calling late for the
 *    earlier one, however long ago that was, so it has to say which.
 *
 * @throws WaybillError `turn_required`, `turn_mismatch`, `no_live_turn`; `details.use` or `details.addresses` say where
 *   the grant's runs are due
 */
export function selectRun(grant: Pick<Grant, "runs" | "onePlace">, hint: TurnHint): Selection {
  const recorded = grant.runs.filter((run) => run.agentTurn !== null && run.agentTurn === hint.agentTurn);
  if (hint.echo !== null) return byEcho(grant.runs, hint.echo, recorded);
  if (recorded.length > 0) return { run: only(latestOf(recorded), grant.runs) };
  if (grant.runs.length === 0) {
    throw new WaybillError(
      "no_live_turn",
      "No turn of this token is going on, and none has ended just now. What is left to say belongs to a new turn.",
    );
  }
  if (!grant.onePlace) throw turnRequired(grant.runs);
  return { run: only(latestOf(grant.runs), grant.runs) };
}

function byEcho(runs: readonly GrantedRun[], echo: EchoedTurn, recorded: readonly GrantedRun[]): Selection {
  const named = runs.filter((run) => run.turn === echo.turn && run.replyTo === echo.address);
  if (named.length === 0) return { absent: echo };
  const meant = recorded.length === 0 ? named : named.filter((run) => recorded.includes(run));
  if (meant.length > 0) return { run: only(latestOf(meant), runs) };
  throw new WaybillError(
    "turn_mismatch",
    `turn_conversation names a turn at ${echo.address}, but the agent says that it works on another. ` +
      "Copy the reply_to= value of the turn that you are working on.",
    { field: "turn_conversation", ...placesOf(recorded) },
  );
}

/** Live ones; if there are none, the one that ended last. */
function latestOf(runs: readonly GrantedRun[]): GrantedRun[] {
  const live = runs.filter((run) => run.finishedAt === null);
  if (live.length > 0) return live;
  return runs.toSorted((a, b) => b.finishedAt! - a.finishedAt!).slice(0, 1);
}

function only(found: readonly GrantedRun[], all: readonly GrantedRun[]): GrantedRun {
  if (found.length === 1) return found[0]!;
  throw turnRequired(all);
}

function turnRequired(runs: readonly GrantedRun[]): WaybillError {
  const places = placesOf(runs);
  return new WaybillError(
    "turn_required",
    "This token acts for several turns, so say which: give turn_conversation the value of the reply_to= line of your " +
      `turn's prompt, unchanged. It begins with the address, one of: ${places.addresses.join(", ")}.`,
    { field: "turn_conversation", ...places },
  );
}

/** Addresses named in a refusal at most. */
const NAMED_MOST = 10;

/** Where the runs of a grant are due: `use` if it is one place. Of this grant only, and no signature among them. */
export function placesOf(runs: readonly GrantedRun[]): { addresses: string[]; use?: string } {
  const live = runs.filter((run) => run.finishedAt === null);
  const addresses = [...new Set((live.length > 0 ? live : runs).map((run) => run.replyTo))].slice(
    0,
    NAMED_MOST,
  );
  return addresses.length === 1 ? { addresses, use: addresses[0]! } : { addresses };
}
