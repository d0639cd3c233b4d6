import { sql } from "kysely";
import { all, command } from "../db/command.ts";
import { statement } from "../db/statement.ts";

const note = statement<{
  tenant: string;
  address: string;
  sender: string;
  name: string | null;
  reason: string;
  at: number;
}>()((k, p) =>
  k
    .insertInto("denials")
    .values({
      tenant_id: p.tenant,
      address: p.address,
      sender: p.sender,
      name: p.name,
      reason: p.reason,
      times: sql.lit(1),
      first_at: p.at,
      last_at: p.at,
    })
    .onConflict((c) =>
      c
        .columns(["tenant_id", "address", "sender", "reason"])
        .doUpdateSet({ times: sql<number>`denials.times + 1`, last_at: p.at }),
    ),
);

/** One record for each sender, place and reason, counted; the text of the message is not kept. */
export const noteDenial = command(
  "turns.note-denial",
  function* (
    input: { tenant: string; address: string; sender: string; name: string | null; reason: string },
    env,
  ) {
    yield* all(note, { ...input, at: env.now });
  },
);
