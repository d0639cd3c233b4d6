/** The gateway's commands and a few more, by which tests of the outbox lay its rows. SQLite's writer thread imports this. */
import { sql } from "kysely";
import { all, command, registryOf } from "../../src/db/command.ts";
import { statement } from "../../src/db/statement.ts";
import type { Place } from "../../src/deliveries/post-message.ts";
import {
  addOp,
  recordDelivery,
  recordPreview,
  type NewDelivery,
} from "../../src/deliveries/record-delivery.ts";
import { commands as productCommands } from "../../src/gateway/commands.ts";

export const layDeliveries = command("test.lay-deliveries", function* (deliveries: NewDelivery[], env) {
  for (const delivery of deliveries) yield* recordDelivery(delivery, env.now);
});

export const layPreview = command(
  "test.lay-preview",
  function* (input: { tenant: string; id: string; op: string; place: Place; text: string }, env) {
    yield* recordPreview({ ...input, run: "run_1", turn: "turn_1", rule: "turn" }, env.now);
  },
);

export const layRemoval = command(
  "test.lay-removal",
  function* (input: { tenant: string; id: string; op: string; place: Place }, env) {
    const { tenant, id, op, place } = input;
    const removal = { tenant, id: op, delivery: id, place, kind: "delete", part: 0, text: "" } as const;
    yield* addOp({ ...removal, state: "pending", reason: null }, env.now);
  },
);

const backDateOps = statement<{ ms: number }>()((k, p) =>
  k
    .updateTable("ops")
    .set({ next_at: sql<number>`next_at - ${p.ms}` })
    .where(sql<boolean>`state = 'pending' and next_at < ${sql.lit(Number.MAX_SAFE_INTEGER)}`),
);

/** On Postgres the clock is the database's: instead of moving it, what is due later is made due earlier. */
export const backDate = command("test.back-date", function* (input: { ms: number }) {
  yield* all(backDateOps, input);
});

export const commands = new Map([
  ...productCommands,
  ...registryOf([layDeliveries, layPreview, layRemoval, backDate]),
]);
