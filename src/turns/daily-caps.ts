import { sql } from "kysely";
import { all, first, type Program } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/** A cap of one day (UTC): `sender:<account>/<id>` or `agent:<name>`. */
export interface DailyCap {
  subject: string;
  runs?: number;
  tokens?: number;
}

/** What each day allows; what is left out is not capped. */
export interface DailyCaps {
  perSender?: Omit<DailyCap, "subject">;
  perAgent?: Omit<DailyCap, "subject">;
}

/** The caps that a run of `agent` for this sender counts against. */
export function capsFor(
  caps: DailyCaps,
  place: { channel: string; account: string },
  sender: string,
  agent: string,
): DailyCap[] {
  const { perSender, perAgent } = caps;
  return [
    ...(perSender ? [{ ...perSender, subject: `sender:${place.channel}:${place.account}/${sender}` }] : []),
    ...(perAgent ? [{ ...perAgent, subject: `agent:${agent}` }] : []),
  ];
}

const count = statement<{ tenant: string; day: string; subject: string; runs: number; tokens: number }>()(
  (k, p) =>
    k
      .insertInto("daily_use")
      .values({ tenant_id: p.tenant, day: p.day, subject: p.subject, runs: p.runs, tokens: p.tokens })
      .onConflict((c) =>
        c.columns(["tenant_id", "day", "subject"]).doUpdateSet({
          runs: sql<number>`daily_use.runs + excluded.runs`,
          tokens: sql<number>`daily_use.tokens + excluded.tokens`,
        }),
      )
      .returning(["runs", "tokens"]),
);

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * Counts one run for each cap, if none of them is used up; what is refused counts for nobody, or one sender could use up
 * an agent's day for all. Part of a larger command.
 * @returns true if one of them is used up: the run must not be made
 */
export function* countUse(tenant: string, caps: readonly DailyCap[], now: number): Program<boolean> {
  const day = dayOf(now);
  for (const { subject, ...cap } of caps) {
    // Adding nothing takes the row: from here to the commit nobody else counts on it.
    const used = yield* first(count, { tenant, day, subject, runs: 0, tokens: 0 });
    if (cap.runs !== undefined && (used?.runs ?? 0) >= cap.runs) return true;
    if (cap.tokens !== undefined && (used?.tokens ?? 0) >= cap.tokens) return true;
  }
  for (const { subject } of caps) yield* all(count, { tenant, day, subject, runs: 1, tokens: 0 });
  return false;
}

/** Counts the tokens of a run that has ended. Part of a larger command. */
export function* countTokens(
  tenant: string,
  subjects: readonly string[],
  tokens: number,
  now: number,
): Program<void> {
  for (const subject of subjects) {
    yield* all(count, { tenant, day: dayOf(now), subject, runs: 0, tokens });
  }
}
