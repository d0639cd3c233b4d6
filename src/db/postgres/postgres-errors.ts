import { WaybillError } from "../../kernel/errors.ts";

/** SQLSTATE codes (postgresql.org/docs, appendix A). */
const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
const DISK_FULL = "53100";
const UNIQUE_VIOLATION = "23505";
/** A row of an index, and so an address or an id, that is too long: Postgres alone has this limit. */
const PROGRAM_LIMIT_EXCEEDED = "54000";
/** A NUL in a text: Postgres alone of the two stores cannot keep one. */
const CHARACTER_NOT_IN_REPERTOIRE = "22021";

function codeOf(thrown: unknown): string | null {
  const code = thrown instanceof Error ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : null;
}

/** True for failures of a transaction that did nothing and may well succeed when it is done again. */
export function isWorthAnotherTry(thrown: unknown): boolean {
  const code = codeOf(thrown);
  // A unique index answers so when two transactions raced for one row that both had looked for and not found.
  return code === SERIALIZATION_FAILURE || code === DEADLOCK || code === UNIQUE_VIOLATION;
}

/** A mistake in our own code is not the database's: pg reports what it cannot do as plain errors. */
function isDefect(thrown: Error): boolean {
  return (
    thrown instanceof TypeError ||
    thrown instanceof RangeError ||
    thrown instanceof ReferenceError ||
    thrown instanceof SyntaxError
  );
}

/** What pg threw, as an error with a code. What a command refused with is given back as it is. */
export function fromPostgres(thrown: unknown, place: string): unknown {
  if (thrown instanceof WaybillError || !(thrown instanceof Error)) return thrown;
  const code = codeOf(thrown);
  if (code === DISK_FULL) {
    return new WaybillError("store_full", `The disk of the database ${place} is full.`, {}, thrown);
  }
  if (code === CHARACTER_NOT_IN_REPERTOIRE) {
    return new WaybillError(
      "invalid_request",
      "A text holds a NUL character, which cannot be stored.",
      {},
      thrown,
    );
  }
  if (code === PROGRAM_LIMIT_EXCEEDED) {
    return new WaybillError(
      "invalid_request",
      "An address or an id is too long for this database, which keeps at most about 2,600 bytes of one in an index.",
      {},
      thrown,
    );
  }
  const isStatementError = code !== null && /^(22|23|42|P0)/.test(code);
  if (isStatementError || isDefect(thrown)) return thrown;
  return new WaybillError(
    "store_unavailable",
    `The database ${place} does not answer (${code ?? thrown.message}). Check that it runs and that WAYBILL_DATABASE_URL is right.`,
    {},
    thrown,
  );
}
