import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Command, CommandEnv } from "../command.ts";
import type { Statement } from "../statement.ts";

/** The statements that a connection has prepared. */
export class Prepared {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<Statement<never, unknown>, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  all(statement: Statement<never, unknown>, parameters: unknown): unknown[] {
    let prepared = this.#statements.get(statement);
    if (!prepared) {
      prepared = this.#db.prepare(statement.compiled("sqlite").sql);
      this.#statements.set(statement, prepared);
    }
    return prepared.all(...(statement.bind("sqlite", parameters as never) as SQLInputValue[]));
  }
}

/** Drives a command to its end, synchronously. The caller owns the transaction. */
export function runCommand<O>(
  prepared: Prepared,
  command: Command<never, O>,
  input: unknown,
  env: CommandEnv,
): O {
  const program = command.run(input as never, env);
  let next = program.next();
  while (!next.done) {
    next = program.next(prepared.all(next.value.statement, next.value.parameters));
  }
  return next.value;
}
