import { WaybillError } from "../kernel/errors.ts";
import { grantRun } from "../ledger/grants.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunServices } from "./services.ts";

/** How long a grant holds after the last run was added to it; while a run of it is live, it holds anyway. */
const LIFE_MS = 24 * 3_600_000;

/**
 * Adds a live run to the grant of a holder, and gives the holder's token.
 * @throws WaybillError `run_lost`, `invalid_request`
 */
export async function grantTools(
  s: RunServices,
  live: LiveRun,
  holder: string,
  agentTurn?: string,
): Promise<{ token: string; url: string | null }> {
  live.checkLive();
  checkName("holder", holder);
  if (agentTurn !== undefined) checkName("agentTurn", agentTurn);
  const { id, token, hash } = s.grants.of(holder);
  const of = { grant: id, hash, holder, place: live.run.replyTo, agentTurn: agentTurn ?? null };
  await s.db.do(grantRun, { fence: live.fence, ...of, lifeMs: LIFE_MS, graceMs: s.toolGraceMs });
  return { token, url: s.url };
}

function checkName(field: string, value: unknown): void {
  if (typeof value === "string" && /^[\x21-\x7e]{1,200}$/.test(value)) return;
  throw new WaybillError(
    "invalid_request",
    `ctx.grant(holder, agentTurn): ${field} is a text of 1 to 200 visible ASCII characters.`,
    { field },
  );
}
