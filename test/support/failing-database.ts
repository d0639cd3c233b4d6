/** A database that fails, or is listened to, where a test says. */
import type { Database } from "../../src/db/database.ts";

/** The same database as an object of its own. */
export function through(db: Database): Database {
  return {
    dialect: db.dialect,
    place: db.place,
    do: (command, input) => db.do(command, input),
    read: (statement, parameters) => db.read(statement, parameters),
    query: (build) => db.query(build),
    notify: (topic) => db.notify(topic),
    listen: (hear) => db.listen(hear),
    ping: () => db.ping(),
    close: () => db.close(),
  };
}

/** The database, except where `when` says of a command's name that it fails. */
export function failing(db: Database, when: (name: string) => boolean, fail: () => Promise<never>): Database {
  return { ...through(db), do: (command, input) => (when(command.name) ? fail() : db.do(command, input)) };
}

/** Hears the pause of each settlement that puts an op off. */
export function spyOnPauses(db: Database, hear: (inMs: number) => void): Database {
  return {
    ...through(db),
    async do(command, input) {
      const answer = await db.do(command, input);
      const { settlement } = input as { settlement?: { kind: string; inMs: number } };
      if (settlement?.kind === "retry") hear(settlement.inMs);
      return answer;
    },
  };
}
