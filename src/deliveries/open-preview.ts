import { sql } from "kysely";
import { command, first } from "../db/command.ts";
import { statement } from "../db/statement.ts";
import { noteRun } from "../ledger/note-run.ts";
import type { Fence } from "../ledger/run.ts";
import { recordPreview } from "./record-delivery.ts";
import type { Place } from "./post-message.ts";
import type { DeliveryRule } from "./sender.ts";

export interface PreviewInput {
  fence: Fence;
  turn: string;
  delivery: string;
  op: string;
  place: Place;
  rule: DeliveryRule;
  text: string;
}

const openOne = statement<{ tenant: string; run: string }>()((k, p) =>
  k
    .selectFrom("deliveries")
    .select("id")
    .where("tenant_id", "=", p.tenant)
    .where("run_id", "=", p.run)
    .where("kind", "=", sql.lit("final"))
    .where("message_id", "is", null),
);

/**
 * Commits the post that is finished in place, before the first text appears: the answer, a notice or its removal will
 * find it, also after a crash, so a preview and its final message are one post. A run that is executed again goes on
 * with the post that it had.
 * @returns the preview's delivery
 * @throws WaybillError `run_lost`
 */
export const openPreview = command("deliveries.open-preview", function* (input: PreviewInput, env) {
  const { fence, turn, delivery, op, place, rule, text } = input;
  const before = yield* first(openOne, { tenant: fence.tenant, run: fence.run });
  if (before) return before.id;
  yield* noteRun(fence, "preview", { delivery }, env.now);
  yield* recordPreview(
    { tenant: fence.tenant, id: delivery, op, run: fence.run, turn, place, rule, text },
    env.now,
  );
  return delivery;
});
