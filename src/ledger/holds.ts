import { sql } from "kysely";
import { all, command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";

/** A hold is what one node at a time has, such as the poller of a bot token; it ends with its node's lease. */
interface HoldInput {
  tenant: string;
  name: string;
  boot: string;
}

const take = statement<HoldInput & { now: number }>()((k, p) =>
  k
    .insertInto("holds")
    .values({ tenant_id: p.tenant, name: p.name, boot_id: p.boot, at: p.now })
    .onConflict((c) =>
      c
        .columns(["tenant_id", "name"])
        .doUpdateSet({ boot_id: p.boot, at: p.now })
        .where(
          sql<boolean>`holds.boot_id = ${p.boot} or not exists (select 1 from nodes n
            where n.tenant_id = holds.tenant_id and n.boot_id = holds.boot_id
            and n.ended_at is null and n.lease_until > ${p.now})`,
        ),
    )
    .returning("boot_id"),
);

const holder = statement<{ tenant: string; name: string }>()((k, p) =>
  k
    .selectFrom("holds as h")
    .leftJoin("nodes as n", (join) =>
      join.onRef("n.tenant_id", "=", "h.tenant_id").onRef("n.boot_id", "=", "h.boot_id"),
    )
    .select(["n.host", "n.pid"])
    .where("h.tenant_id", "=", p.tenant)
    .where("h.name", "=", p.name),
);

const drop = statement<HoldInput>()((k, p) =>
  k
    .deleteFrom("holds")
    .where("tenant_id", "=", p.tenant)
    .where("name", "=", p.name)
    .where("boot_id", "=", p.boot),
);

/**
 * Takes a hold, unless a live node has it.
 * @returns null if it is held now; else which process has it
 */
export const takeHold = command("ledger.take-hold", function* (input: HoldInput, env) {
  if (yield* first(take, { ...input, now: env.now })) return null;
  const other = yield* first(holder, input);
  return other?.pid === undefined || other.pid === null
    ? "another process"
    : `process ${other.pid} on ${other.host}`;
});

export const dropHold = command("ledger.drop-hold", function* (input: HoldInput) {
  yield* all(drop, input);
});
