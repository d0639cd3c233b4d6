import { tryParseAddress } from "../address/address.ts";
import type { RunFact } from "../agents/agent.ts";
import type { ConversationKind } from "../address/kind.ts";
import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { readGrant, readMember, type Grant, type GrantedRun } from "../ledger/grants.ts";
import { readRun } from "../ledger/read-runs.ts";
import { readPlaceRuns } from "../ledger/place-runs.ts";
import { sayRun, sayStatus } from "../ledger/say-status.ts";
import { isTerminal } from "../ledger/run.ts";
import { chooseTarget, type SendingTurn } from "./choose-target.ts";
import { hashOfToken } from "./grant-tokens.ts";
import { factOfRecord } from "./known.ts";
import { noteToolRefusal, turnEnded, type Posted } from "./post-by-grant.ts";
import { postForRun } from "./post-for-run.ts";
import { placesOf, selectRun } from "./select-run.ts";
import type { RunServices } from "./services.ts";

export type ToolName = "post_message" | "run_status" | "list_addresses";

/** How a call says which turn it belongs to. Nothing of it gives a right; it selects among what the token may act for. */
export interface TurnChoice {
  /** The signed echo, as it was handed back. */
  turnConversation?: string;
  /** The agent's own id of its turn. */
  agentTurn?: string;
  /** The id of its run. */
  ofRun?: string;
}

export interface PostCall extends TurnChoice {
  text: string;
  /** Left out: the turn's own address. */
  to?: string;
  /** The idempotency key; it counts within the run. */
  id?: string;
}

export interface StatusCall extends TurnChoice {
  /** A run of the turn's place; left out: all of that place. */
  run?: string;
}

/** An address that a turn may post to. */
export interface ReachableAddress {
  address: string;
  /** The turn's own, or by a rule of the operator. */
  why: "turn" | "cross_post_rule";
}

/** Runs of a place that a status tells. */
const TOLD = 20;

/** What the holder of a grant can do: as much as the runs that it may act for, and in their places only. */
export interface ToolDoor {
  /** @throws WaybillError `invalid_grant`, `grant_expired` */
  open(token: string): Promise<Grant>;
  /** @throws WaybillError as `selectRun`, `chooseTarget` and `postByGrant` do, `turn_not_granted`, `invalid_echo`, `forged_echo` */
  post(grant: Grant, call: PostCall): Promise<Posted & { run: string }>;
  /** @throws WaybillError as `selectRun` does, `unknown_run` */
  status(grant: Grant, call: StatusCall): Promise<{ address: string; runs: RunFact[]; text: string }>;
  /** @throws WaybillError as `selectRun` does */
  addresses(grant: Grant, call: TurnChoice): Promise<ReachableAddress[]>;
}

/** @param count hears of each call: the tool (`none`: its token opened nothing), and `ok` or the code of its refusal */
export function toolDoor(
  s: RunServices,
  count: (tool: ToolName | "none", outcome: string) => void,
): ToolDoor {
  const called = async <T>(
    tool: ToolName,
    grant: Grant,
    call: TurnChoice & { to?: string },
    act: (run: GrantedRun) => Promise<T>,
  ): Promise<T> => {
    let run: GrantedRun | null = null;
    try {
      run = await selected(s, grant, call);
      const result = await act(run);
      count(tool, "ok");
      return result;
    } catch (thrown) {
      const error = asWaybillError(thrown);
      count(tool, error.code);
      await noteRefusal(s, tool, error, { grant, run, to: call.to ?? null });
      throw thrown;
    }
  };
  return {
    open: (token) => openGrant(s, token, count),
    post: (grant, call) =>
      called("post_message", grant, call, async (run) => ({
        ...(await postForRun(s, run, call)),
        run: run.id,
      })),
    status: (grant, call) => called("run_status", grant, call, (run) => statusFor(s, run, call.run)),
    addresses: (grant, call) => called("list_addresses", grant, call, (run) => reachable(s, run)),
  };
}

async function openGrant(
  s: RunServices,
  token: string,
  count: (tool: "none", outcome: string) => void,
): Promise<Grant> {
  const hash = hashOfToken(token);
  const at = { now: s.clock.now(), graceMs: s.toolGraceMs };
  const grant = hash === null ? null : await readGrant(s.db, s.tenant, hash, at);
  if (grant && !grant.expired) return grant;
  const code = grant ? "grant_expired" : "invalid_grant";
  count("none", code);
  s.log.warn({ code, ...(grant ? { grant: grant.id } : {}) }, "a call with a token for tools was refused");
  throw grant
    ? new WaybillError(code, "This token for tools has expired; the agent's next turn makes it good again.")
    : new WaybillError(
        code,
        "This token for tools is unknown here. Use the WAYBILL_GRANT that the agent's process was started with.",
      );
}

/** The run that a call belongs to. @throws WaybillError as `ToolDoor.post` says */
async function selected(s: RunServices, grant: Grant, call: TurnChoice): Promise<GrantedRun> {
  const echo = call.turnConversation === undefined ? null : readEcho(s, grant, call.turnConversation);
  const selection = selectRun(narrowed(grant, call.ofRun), { echo, agentTurn: call.agentTurn ?? null });
  if ("run" in selection) return selection.run;
  // Signed by us, and not one of those: it has ended, or it was never this grant's.
  const { address, turn } = selection.absent;
  const member = await readMember(s.db, s.tenant, grant.id, turn);
  if (member?.replyTo === address) throw turnEnded(address, s.toolGraceMs);
  throw new WaybillError(
    "turn_not_granted",
    "turn_conversation is of a turn that this token was never given. Copy the reply_to= value of the turn that you are " +
      "working on.",
    { field: "turn_conversation", ...placesOf(grant.runs) },
  );
}

/** Who names a run says which; a run of somebody else is as good as none. @throws WaybillError `unknown_run` */
function narrowed(grant: Grant, run: string | undefined): Grant {
  if (run === undefined) return grant;
  const runs = grant.runs.filter((one) => one.id === run);
  if (runs.length > 0) return { ...grant, runs, onePlace: true };
  throw new WaybillError("unknown_run", `This token has no run ${run} that it may act for now.`, {
    field: "run",
    ...placesOf(grant.runs),
  });
}

function readEcho(s: RunServices, grant: Grant, text: string) {
  try {
    return s.echoes.read(text);
  } catch (thrown) {
    if (!(thrown instanceof WaybillError)) throw thrown;
    const places = placesOf(grant.runs);
    const named =
      places.addresses.length === 0 ? "" : ` It begins with the address: ${places.addresses.join(", or ")}.`;
    throw new WaybillError(thrown.code, thrown.message + named, { ...thrown.details, ...places });
  }
}

async function statusFor(
  s: RunServices,
  run: GrantedRun,
  wanted: string | undefined,
): Promise<{ address: string; runs: RunFact[]; text: string }> {
  const address = run.replyTo;
  const now = s.clock.now();
  if (wanted === undefined) {
    const runs = await readPlaceRuns(s.db, s.tenant, address, TOLD);
    return { address, runs: runs.map(factOfRecord), text: sayStatus(runs, now, s.locale) };
  }
  const found = await readRun(s.db, s.tenant, wanted);
  // A run of another conversation is as good as none: its existence is not this one's to know.
  if (!found || ![found.origin, found.replyTo, found.postedIn].includes(address)) {
    throw new WaybillError("unknown_run", `There is no run ${wanted.slice(0, 200)} in this conversation.`, {
      use: address,
    });
  }
  return { address, runs: [factOfRecord(found)], text: sayRun(found, now, s.locale) };
}

/** The turn's own address, and what rules of the operator let this turn reach by name: patterns name no place. */
async function reachable(s: RunServices, run: GrantedRun): Promise<ReachableAddress[]> {
  const turn: SendingTurn = { address: run.replyTo, kind: run.kind as ConversationKind };
  const found: ReachableAddress[] = [{ address: turn.address, why: "turn" }];
  for (const { to } of s.crossPost) {
    if (tryParseAddress(to) === null || found.some(({ address }) => address === to)) continue;
    const may = await chooseTarget(s, turn, to).catch((error: unknown) => {
      if (error instanceof WaybillError) return null;
      throw error;
    });
    if (may) found.push({ address: to, why: "cross_post_rule" });
  }
  return found;
}

/** Runs that one refused call is noted on, at most: those that it may have belonged to. */
const NOTED_MOST = 10;

/** A refusal is an event of the run; where none could be chosen, of those that may have been meant. */
async function noteRefusal(
  s: RunServices,
  tool: ToolName,
  error: WaybillError,
  { grant, run, to }: { grant: Grant; run: GrantedRun | null; to: string | null },
): Promise<void> {
  if (error.code === "internal" || error.code === "store_unavailable") return;
  const live = grant.runs.filter(({ state }) => !isTerminal(state));
  const runs = run ? [run] : (live.length > 0 ? live : grant.runs).slice(0, NOTED_MOST);
  const rule = to === null ? ("turn" as const) : ("explicit" as const);
  const address = (to ?? run?.replyTo ?? runs[0]?.replyTo ?? "").slice(0, 500);
  const kind = tool === "post_message" ? "send_refused" : "tool_refused";
  const data = { rule, address, reason: error.code, tool, ...(run ? {} : { unplaced: true }) };
  if (run && tool === "post_message") s.live(run.id)?.rejected.push({ rule, address, reason: error.code });
  try {
    await s.db.do(noteToolRefusal, { tenant: s.tenant, runs: runs.map(({ id }) => id), kind, data });
  } catch (thrown) {
    // The caller is to hear of its own error, not of this one.
    s.log.error({ code: error.code, error: String(thrown) }, "a refused tool call could not be noted");
  }
}
