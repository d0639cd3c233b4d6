import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import type { AbortCause } from "./run.ts";

/**
 * A node has one lease per boot, renewed by one heartbeat, however many runs it has. On Postgres `env.now` is the
 * database's clock, so nodes need not agree on the time.
 */
const insertNode = statement<{
  tenant: string;
  boot: string;
  host: string;
  pid: number;
  now: number;
  until: number;
}>()((k, p) =>
  k.insertInto("nodes").values({
    tenant_id: p.tenant,
    boot_id: p.boot,
    host: p.host,
    pid: p.pid,
    started_at: p.now,
    lease_until: p.until,
  }),
);

const insertNodeAgent = statement<{ tenant: string; boot: string; agent: string; version: string }>()(
  (k, p) =>
    k
      .insertInto("node_agents")
      .values({ tenant_id: p.tenant, boot_id: p.boot, agent: p.agent, version: p.version })
      .onConflict((c) => c.doNothing()),
);

const renew = statement<{ tenant: string; boot: string; until: number }>()((k, p) =>
  k
    .updateTable("nodes")
    .set({ lease_until: p.until })
    .where("tenant_id", "=", p.tenant)
    .where("boot_id", "=", p.boot)
    .where("ended_at", "is", null)
    .returning("lease_until"),
);

const abortsFor = statement<{ tenant: string; boot: string }>()((k, p) =>
  k
    .selectFrom("runs")
    .select(["id", "abort_cause"])
    .where("tenant_id", "=", p.tenant)
    .where("owner", "=", p.boot)
    .where(sql<boolean>`abort_cause is not null and finished_at is null and state in ('running', 'waiting')`),
);

const endNode = statement<{ tenant: string; boot: string; now: number }>()((k, p) =>
  k
    .updateTable("nodes")
    .set({ ended_at: p.now, lease_until: p.now })
    .where("tenant_id", "=", p.tenant)
    .where("boot_id", "=", p.boot),
);

/** A node that was taken for dead writes nothing more, also before its runs are taken over one by one. */
export function ownerLives(p: { tenant: string; owner: string }) {
  return sql<boolean>`exists (select 1 from nodes n
    where n.tenant_id = ${p.tenant} and n.boot_id = ${p.owner} and n.ended_at is null)`;
}

export interface NodeInput {
  tenant: string;
  boot: string;
  host: string;
  pid: number;
  leaseMs: number;
  agents: { name: string; version: string }[];
}

export const registerNode = command("ledger.register-node", function* (input: NodeInput, env) {
  yield* all(insertNode, { ...input, now: env.now, until: env.now + input.leaseMs });
  for (const { name, version } of input.agents) {
    yield* all(insertNodeAgent, { tenant: input.tenant, boot: input.boot, agent: name, version });
  }
});

/**
 * Renews a node's lease.
 * @returns `renewed: false` if the node was taken for dead (its runs are lost); and its runs that somebody, perhaps
 * through another node, asked to end.
 */
export const renewLease = command(
  "ledger.renew-lease",
  function* (input: { tenant: string; boot: string; leaseMs: number }, env) {
    const row = yield* first(renew, {
      tenant: input.tenant,
      boot: input.boot,
      until: env.now + input.leaseMs,
    });
    const aborts = yield* all(abortsFor, { tenant: input.tenant, boot: input.boot });
    return {
      renewed: row !== undefined,
      aborts: aborts.map((run) => ({ run: run.id, cause: run.abort_cause as AbortCause })),
    };
  },
);

/** The node says that it has ended; whatever it still had may be taken over at once. */
export const leaveNode = command(
  "ledger.leave-node",
  function* (input: { tenant: string; boot: string }, env) {
    yield* all(endNode, { ...input, now: env.now });
  },
);
