import { sql } from "kysely";
import { command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";

const hasten = statement<{ tenant: string; id: string; at: number }>()((k, p) =>
  k
    .updateTable("schedules")
    .set({ next_at: p.at })
    .where("tenant_id", "=", p.tenant)
    .where("id", "=", p.id)
    .where("next_at", ">", p.at)
    .where(sql<boolean>`state = 'active'`)
    .returning("id"),
);

/**
 * Makes an active schedule due now, so that it is fired as it would be at its time: once, on whichever node is first.
 * One that is due already stays so. What is not active is left as it is.
 */
export const hastenSchedule = command(
  "schedules.hasten",
  function* (input: { tenant: string; id: string; at: number }) {
    yield* first(hasten, input);
  },
);
