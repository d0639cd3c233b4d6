import { sql, type SqlBool } from "kysely";
import { parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { placeOf, planDelivery } from "../deliveries/plan-delivery.ts";
import { refreshDelivery } from "../deliveries/refresh-delivery.ts";
import { asWaybillError } from "../kernel/errors.ts";
import { claimRuns } from "../ledger/claim-runs.ts";
import { cancelJobs, endOfCause, hold, type EndState } from "../ledger/end-run.ts";
import { appendEvent } from "../ledger/events.ts";
import type { AbortCause, Fence, RunInput } from "../ledger/run.ts";
import { noticeOf, noticeText } from "./end-notice.ts";
import { isStoreAway, questionOf } from "./finish-live.ts";
import { finishRun } from "./finish-run.ts";
import type { RunServices } from "./services.ts";

/** Claims of one run at most before recovery gives up and says so: a run that kills its process does not go on forever. */
const ATTEMPTS_MOST = 3;
/** Runs that are settled at once. */
const AT_ONCE = 100;

const buryExpired = statement<{ tenant: string; me: string; now: number; everybody: number }>()((k, p) =>
  k
    .updateTable("nodes")
    .set({ ended_at: p.now })
    .where("tenant_id", "=", p.tenant)
    .where("ended_at", "is", null)
    .where("boot_id", "<>", p.me)
    .where((e) => e.or([e("lease_until", "<", p.now), e(e.val(p.everybody), "=", sql.lit(1))]))
    .returning("boot_id"),
);

const releaseOps = statement<{ tenant: string; now: number }>()((k, p) =>
  k
    .updateTable("ops")
    .set({
      state: sql.lit("pending"),
      ambiguous: sql.lit(1),
      owner: null,
      next_at: p.now,
      fence: sql<number>`fence + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where(sql<boolean>`state = 'sending'`)
    .where("owner", "in", (e) =>
      e
        .selectFrom("nodes")
        .select("boot_id")
        .where("tenant_id", "=", p.tenant)
        .where("ended_at", "is not", null),
    )
    .returning(["delivery_id"]),
);

/**
 * Takes nodes whose lease ran out for dead (on SQLite, where this process alone holds the file, every other one), and
 * gives their ops back: what they had sent is unclear, so it is reconciled before anything is sent again.
 */
const buryNodes = command(
  "runs.bury-nodes",
  function* (input: { tenant: string; me: string; everybody: boolean }, env) {
    const dead = yield* all(buryExpired, { ...input, everybody: input.everybody ? 1 : 0, now: env.now });
    const ops = yield* all(releaseOps, { tenant: input.tenant, now: env.now });
    for (const op of ops) yield* refreshDelivery(input.tenant, op.delivery_id, env.now);
    env.reach("reap:before-commit");
    return { nodes: dead.length, ops: ops.length };
  },
);

/** What has not ended is few; `origin >= ''` is true of all of it and has SQLite look into that index. */
const unfinished = sql<SqlBool>`finished_at is null and origin >= '' and state in ('running', 'waiting')`;

const lostRuns = statement<{ tenant: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where(unfinished)
    .where("owner", "in", (e) =>
      e
        .selectFrom("nodes")
        .select("boot_id")
        .where("tenant_id", "=", p.tenant)
        .where("ended_at", "is not", null),
    )
    .orderBy("created_at"),
);

const lostRun = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("runs as r")
    .leftJoin("deliveries as d", (join) =>
      join
        .onRef("d.run_id", "=", "r.id")
        .onRef("d.tenant_id", "=", "r.tenant_id")
        .on("d.kind", "=", sql.lit("final"))
        .on("d.message_id", "is", null),
    )
    .select([
      "r.id",
      "r.owner",
      "r.fence",
      "r.attempts",
      "r.recovery",
      "r.abort_cause",
      "r.turn_id",
      "r.parent_run",
      "r.foreground",
      "r.lane",
      "r.reply_to",
      "r.scope",
      "r.input_json",
      "d.id as preview",
    ])
    .where("r.tenant_id", "=", p.tenant)
    .where("r.id", "=", p.run)
    .where(sql<SqlBool>`r.state in ('running', 'waiting')`),
);

const requeue = statement<{ tenant: string; run: string; fence: number }>()((k, p) =>
  k
    .updateTable("runs")
    .set({
      state: sql.lit("queued"),
      ready: sql.lit(1),
      owner: null,
      fence: sql<number>`fence + 1`,
      event_seq: sql<number>`event_seq + 1`,
    })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.run)
    .where("fence", "=", p.fence)
    .where(sql<boolean>`state in ('running', 'waiting')`)
    .returning("event_seq"),
);

/** Puts a lost run back, where its agent says that doing it again is safe. It is still the first of its lane. */
const requeueRun = command("runs.requeue-run", function* (input: { fence: Fence }, env) {
  const { fence } = input;
  yield* hold(fence, true);
  yield* cancelJobs(fence.tenant, fence.run, env);
  const row = yield* first(requeue, { tenant: fence.tenant, run: fence.run, fence: fence.fence });
  if (row)
    yield* appendEvent(fence.tenant, fence.run, row.event_seq, "requeued", { owner: fence.owner }, env.now);
});

export const recoverCommands = [buryNodes, requeueRun] as const;

const ownRuns = statement<{ tenant: string; owner: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "fence"])
    .where("tenant_id", "=", p.tenant)
    .where(unfinished)
    .where("owner", "=", p.owner),
);

/**
 * Puts back what this node has claimed without knowing: the answer to a claim was lost with its connection, and nothing
 * of those runs has begun.
 * @param inHand the runs that it knows
 */
export async function requeueAstray(s: RunServices, inHand: { has(run: string): boolean }): Promise<void> {
  for (const { id, fence } of await s.db.read(ownRuns, { tenant: s.tenant, owner: s.owner })) {
    if (inHand.has(id)) continue;
    await s.db.do(requeueRun, { fence: { tenant: s.tenant, run: id, owner: s.owner, fence } });
    s.log.warn({ run: id }, "a run was claimed without an answer, and is put back");
  }
}

type LostRun = NonNullable<(typeof lostRun)["row"]>;

/**
 * Finds runs that dead nodes left and settles each by its agent's policy: told to people where the answer was due, or
 * queued again. State and notice are one commit, and a run is settled by whoever commits first.
 * @param everybody true where no other process can be alive (SQLite holds its file alone)
 * @returns how many runs were interrupted, and how many put back
 */
export async function recoverRuns(
  s: RunServices,
  everybody: boolean,
): Promise<{ interrupted: number; requeued: number; ops: number }> {
  const buried = await s.db.do(buryNodes, { tenant: s.tenant, me: s.owner, everybody });
  const lost = await s.db.read(lostRuns, { tenant: s.tenant });
  let [interrupted, requeued] = [0, 0];
  for (let at = 0; at < lost.length; at += AT_ONCE) {
    // Each run once: one that cannot be settled is left to the next round and holds up none.
    const settled = await Promise.all(lost.slice(at, at + AT_ONCE).map((run) => settle(s, run.id)));
    interrupted += settled.filter((how) => how === "ended").length;
    requeued += settled.filter((how) => how === "requeued").length;
  }
  // A dead node may also have left what was ready and not begun, which nobody but it was told of.
  if (interrupted + requeued + buried.ops + buried.nodes > 0) {
    s.reach("reap:after-commit");
    s.log.warn({ interrupted, requeued, ops: buried.ops }, "a process ended without finishing its work");
    s.hear.opsAdded();
    s.hear.runsReady();
  }
  return { interrupted, requeued, ops: buried.ops };
}

async function settle(s: RunServices, id: string): Promise<"ended" | "requeued" | "gone" | "failed"> {
  try {
    const [run] = await s.db.read(lostRun, { tenant: s.tenant, run: id });
    if (!run) return "gone";
    const fence: Fence = { tenant: s.tenant, run: id, owner: run.owner ?? "", fence: run.fence };
    const mayRepeat = run.recovery !== "notify" && run.attempts < ATTEMPTS_MOST && run.abort_cause === null;
    if (mayRepeat) {
      await s.db.do(requeueRun, { fence });
      return "requeued";
    }
    await endLost(s, run, fence, endOfLost(run));
    return "ended";
  } catch (error) {
    // Somebody else settled it first, perhaps the run itself.
    const { code } = asWaybillError(error);
    if (code === "run_lost") return "gone";
    if (isStoreAway(error) || code === "shutting_down") throw error;
    s.log.error({ run: id, code, error: String(error) }, "a run of a dead process could not be settled");
    return "failed";
  }
}

const orphanedAgents = statement<{ tenant: string; before: number }>()((k, p) =>
  k
    .selectFrom("runs")
    .select("agent")
    .distinct()
    .where("tenant_id", "=", p.tenant)
    .where(sql<SqlBool>`state = 'queued' and ready = 1`)
    .where("created_at", "<=", p.before)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("node_agents as na")
            .innerJoin("nodes as n", (join) =>
              join.onRef("n.tenant_id", "=", "na.tenant_id").onRef("n.boot_id", "=", "na.boot_id"),
            )
            .select("na.agent")
            .where("na.tenant_id", "=", p.tenant)
            .whereRef("na.agent", "=", "runs.agent")
            .where("n.ended_at", "is", null),
        ),
      ),
    ),
);

/**
 * Ends, with a notice, what waits for an agent that no live node has: it would never begin, and everything behind it in
 * its lane would wait with it. Each is claimed first, so that whoever is quicker has it, and it ends as any other run.
 * @param graceMs how long a run has to have waited; where nodes come and go, the one that has the agent may be starting
 * @returns how many runs were ended
 */
export async function endOrphans(s: RunServices, graceMs: number): Promise<number> {
  const { tenant, owner } = s;
  const rows = await s.db.read(orphanedAgents, { tenant, before: s.clock.now() - graceMs });
  const agents = rows.map(({ agent }) => ({ name: agent, version: "" }));
  let ended = 0;
  // As one ends, the next of its lane becomes ready.
  while (agents.length > 0) {
    const claimed = await s.db.do(claimRuns, { tenant, owner, agents, limit: AT_ONCE });
    if (claimed.length === 0) break;
    await Promise.all(
      claimed.map(async ({ id, fence }) => {
        const [run] = await s.db.read(lostRun, { tenant, run: id });
        if (run) await endLost(s, run, { tenant, run: id, owner, fence }, goneAgent);
      }),
    );
    ended += claimed.length;
  }
  if (ended === 0) return 0;
  const names = agents.map(({ name }) => name);
  s.log.warn({ agents: names, runs: ended }, "runs were ended whose agents are no longer in the settings");
  s.hear.opsAdded();
  s.hear.runsReady();
  return ended;
}

const goneAgent: LostEnd = { state: "failed", reason: "unknown_agent" };

interface LostEnd {
  state: EndState;
  reason: string;
}

/** What a run without a living process ended as: what it was asked to end for, else that its process is gone. */
function endOfLost(run: LostRun): LostEnd {
  const cause = run.abort_cause as AbortCause | null;
  return { state: cause === null ? "interrupted" : endOfCause(cause), reason: cause ?? "lease_lost" };
}

async function endLost(s: RunServices, run: LostRun, fence: Fence, how: LostEnd): Promise<void> {
  const { state, cancelled } = await s.db.do(finishRun, lostEnd(s, run, fence, how));
  s.hear.posted(run.reply_to);
  for (const job of cancelled) s.hear.runChanged(job, run.reply_to, "cancelled");
  s.hear.runChanged(run.id, run.reply_to, state);
}

function lostEnd(s: RunServices, run: LostRun, fence: Fence, { state, reason }: LostEnd) {
  const input = JSON.parse(run.input_json) as RunInput;
  const place = placeOf(parseAddress(run.reply_to), input.kind as ConversationKind);
  const key = noticeOf(state, reason);
  const wish = { run: run.id, turn: run.turn_id, place, rule: "turn" as const, preview: run.preview };
  const delivery =
    key === null
      ? null
      : planDelivery(
          {
            kind: "notice",
            ...wish,
            text: noticeText(s.locale, key, run.id),
            notice: { key, values: { run: run.id } },
          },
          s,
        );
  return {
    fence,
    lane: run.foreground === 1 ? run.lane : null,
    takeOver: true,
    state,
    reason,
    detail: null,
    usage: null,
    delivery,
    removePreview: run.preview === null ? null : { delivery: run.preview, op: s.ids.next("op"), place },
    scope: run.scope,
    questions:
      run.parent_run === null && input.again !== true ? [questionOf(run.reply_to, run.turn_id, input)] : [],
    answer: null,
    tokenSubjects: [],
  };
}
