import { all, first, type Program } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { statement } from "../db/statement.ts";
import { WaybillError } from "../kernel/errors.ts";

const claimKey = statement<{
  tenant: string;
  scope: string;
  key: string;
  digest: string;
  answer: string;
  at: number;
}>()((k, p) =>
  k
    .insertInto("idempotency")
    .values({
      tenant_id: p.tenant,
      scope: p.scope,
      key: p.key,
      digest: p.digest,
      answer_json: p.answer,
      at: p.at,
    })
    .onConflict((c) => c.doNothing())
    .returning("key"),
);

const findKey = statement<{ tenant: string; scope: string; key: string }>()((k, p) =>
  k
    .selectFrom("idempotency")
    .select(["digest", "answer_json"])
    .where("tenant_id", "=", p.tenant)
    .where("scope", "=", p.scope)
    .where("key", "=", p.key),
);

export interface IdempotencyKey {
  /** Where the key counts: `message:<address of the conversation>`, `send:<grant>`. */
  scope: string;
  key: string;
  /** Of what was asked: the same key with another digest is a conflict. */
  digest: string;
}

/**
 * Takes a key, or gives the answer that was stored under it. Part of a larger command: key and effect are one commit.
 * @throws WaybillError `idempotency_conflict`
 */
export function* once<A>(tenant: string, key: IdempotencyKey, answer: A, now: number): Program<A | null> {
  const taken = yield* all(claimKey, { tenant, ...key, answer: JSON.stringify(answer), at: now });
  if (taken.length > 0) return null;
  const row = yield* first(findKey, { tenant, scope: key.scope, key: key.key });
  if (row && row.digest !== key.digest) {
    throw new WaybillError(
      "idempotency_conflict",
      `The id ${key.key} was used here before with another content. Send a new message under a new id.`,
      { field: "id", key: key.key },
    );
  }
  return row ? (JSON.parse(row.answer_json) as A) : null;
}

const amend = statement<{ tenant: string; scope: string; key: string; answer: string }>()((k, p) =>
  k
    .updateTable("idempotency")
    .set({ answer_json: p.answer })
    .where("tenant_id", "=", p.tenant)
    .where("scope", "=", p.scope)
    .where("key", "=", p.key),
);

/** Replaces the answer of a key that this same command took. */
export function* amendAnswer(tenant: string, key: IdempotencyKey, answer: unknown): Program<void> {
  yield* all(amend, { tenant, scope: key.scope, key: key.key, answer: JSON.stringify(answer) });
}

/** The answer that is stored under a key, without taking it. Part of a larger command. */
export function* readKept<A>(
  tenant: string,
  { scope, key }: Pick<IdempotencyKey, "scope" | "key">,
): Program<A | null> {
  const row = yield* first(findKey, { tenant, scope, key });
  return row ? (JSON.parse(row.answer_json) as A) : null;
}

/** The answer that is stored under a key, without taking it. */
export async function readAnswer<A>(
  db: Database,
  tenant: string,
  key: Pick<IdempotencyKey, "scope" | "key">,
): Promise<A | null> {
  const [row] = await db.read(findKey, { tenant, ...key });
  return row ? (JSON.parse(row.answer_json) as A) : null;
}
