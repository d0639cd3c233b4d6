import { sql } from "kysely";
import { all, command, first, registryOf } from "../../src/db/command.ts";
import { statement } from "../../src/db/statement.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import { registerNode } from "../../src/ledger/nodes.ts";

/** Commands of the store's contract. They write to `slots`, a table without rules of its own: a note is `slot = address`. */
const insertNote = statement<{ name: string; text: string; at: number }>()((k, p) =>
  k.insertInto("slots").values({ tenant_id: "t", account: "notes", slot: p.name, address: p.text, at: p.at }),
);

export const readNotes = statement<Record<never, never>>()((k) =>
  k
    .selectFrom("slots")
    .select(["slot", "address"])
    .where("tenant_id", "=", "t")
    .where("account", "=", "notes")
    .orderBy("at")
    .orderBy("slot"),
);

/** Counts up; the row lock makes others wait. */
const takeNumber = statement<{ counter: string }>()((k, p) =>
  k
    .insertInto("lanes")
    .values({ tenant_id: "t", id: p.counter, last_seq: 1 })
    .onConflict((c) =>
      c.columns(["tenant_id", "id"]).doUpdateSet({ last_seq: sql<number>`lanes.last_seq + 1` }),
    )
    .returning("last_seq"),
);

const countNotes = statement<Record<never, never>>()((k) =>
  k
    .selectFrom("slots")
    .select(sql<number>`count(*)`.as("count"))
    .where("account", "=", "notes"),
);

/** Notes `name`; `refuse` is thrown after the note is written, `defect` breaks in our own code. */
export const note = command(
  "test.note",
  function* (input: { name: string; text?: string; refuse?: boolean; defect?: boolean }, env) {
    yield* all(insertNote, { name: input.name, text: input.text ?? "", at: env.now });
    if (input.refuse)
      throw new WaybillError("no_destination", `refused: ${input.name}`, { name: input.name });
    if (input.defect) throw new TypeError("a defect of the test");
    const row = yield* first(countNotes, {});
    return { notes: Number(row?.count) };
  },
);

/** Notes the number that it took, so that the order in which commands ran can be read. */
export const noteInOrder = command("test.note-in-order", function* (input: { name: string }, env) {
  const row = yield* first(takeNumber, { counter: "order" });
  yield* all(insertNote, { name: input.name, text: String(row?.last_seq), at: env.now });
  return { number: row?.last_seq ?? 0 };
});

/** Takes two counters in the order given: with two orders at once Postgres has a deadlock. */
export const takeBoth = command("test.take-both", function* (input: { counters: string[] }, env) {
  const numbers: number[] = [];
  for (const counter of input.counters) {
    const row = yield* first(takeNumber, { counter });
    numbers.push(row?.last_seq ?? 0);
    // Long enough in the database that the other one surely holds its first.
    if (env.dialect === "postgres") yield* all(pause, {});
  }
  return { numbers };
});

const pause = statement<Record<never, never>>()((k) =>
  k.selectNoFrom(sql<string>`pg_sleep(0.05)::text`.as("slept")),
);

const holdPages = statement<Record<never, never>>()((k) => ({
  compile: () => sql`pragma max_page_count = 1`.compile(k),
}));

const freePages = statement<Record<never, never>>()((k) => ({
  compile: () => sql`pragma max_page_count = 4294967294`.compile(k),
}));

const raiseDiskFull = statement<Record<never, never>>()((k) => ({
  compile: () =>
    sql`do $$ begin raise exception 'the test has no more room' using errcode = '53100'; end $$`.compile(k),
}));

/** SQLite: the file may not grow any more (1 means: not beyond what it is), or may again. */
export const setDiskFull = command("test.set-disk-full", function* (input: { full: boolean }) {
  yield* all(input.full ? holdPages : freePages, {});
});

/** Postgres: what the server says when its disk is full. */
export const meetFullDisk = command("test.meet-full-disk", function* (input: { name: string }, env) {
  yield* all(insertNote, { name: input.name, text: "", at: env.now });
  yield* all(raiseDiskFull, {});
});

const endBackend = statement<Record<never, never>>()((k) =>
  k.selectNoFrom(sql<boolean>`pg_terminate_backend(pg_backend_pid())`.as("ended")),
);

/** Postgres: its own connection is cut in the middle of the transaction. */
export const loseConnection = command("test.lose-connection", function* (input: { name: string }, env) {
  yield* all(insertNote, { name: input.name, text: "", at: env.now });
  yield* all(endBackend, {});
});

export const commands = registryOf([
  loseConnection,
  meetFullDisk,
  note,
  noteInOrder,
  registerNode,
  setDiskFull,
  takeBoth,
]);
