/** The gateway's commands and one more for tests of the ledger. SQLite's writer thread imports this. */
import { sql } from "kysely";
import { all, command, registryOf } from "../../src/db/command.ts";
import { statement } from "../../src/db/statement.ts";
import { commands as productCommands } from "../../src/gateway/commands.ts";

const expire = statement<{ tenant: string; boot: string }>()((k, p) =>
  k
    .updateTable("nodes")
    .set({ lease_until: sql.lit(1) })
    .where("tenant_id", "=", p.tenant)
    .where("boot_id", "=", p.boot),
);

/** On Postgres the clock is the database's: instead of waiting for a lease to run out, it is made to have run out. */
export const expireLease = command("test.expire-lease", function* (input: { tenant: string; boot: string }) {
  yield* all(expire, input);
});

export const commands = new Map([...productCommands, ...registryOf([expireLease])]);
