import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
} from "kysely";
import type { Tables } from "./tables.ts";

export type Dialect = "sqlite" | "postgres";

/** Kysely as a compiler only: it never holds a connection (decision 0002). */
const compilers: Record<Dialect, Kysely<Tables>> = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};

export function compilerOf(dialect: Dialect): Kysely<Tables> {
  return compilers[dialect];
}

/** Stands for a value that is given later. It never reaches a driver. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type BuildQuery<P, R> = (k: Kysely<Tables>, p: P, dialect: Dialect) => Compilable<R>;

export interface CompiledStatement {
  sql: string;
  /** What stands at each place: the name of a parameter, or (null) a constant. */
  places: readonly { parameter: string | null; constant: unknown }[];
}

/**
 * A query that is written once with Kysely and compiled once for each dialect. Compiling anew for each call cost
 * 20 to 50 microseconds, more than SQLite needs to run it; a command has about ten of them.
 */
export class Statement<P, R> {
  /** The name it is prepared under; unique in a process. */
  readonly name: string;
  declare readonly row: R;
  readonly #build: BuildQuery<P, R>;
  readonly #compiled = new Map<Dialect, CompiledStatement>();
  static #count = 0;

  constructor(build: BuildQuery<P, R>) {
    Statement.#count += 1;
    this.name = `s${Statement.#count}`;
    this.#build = build;
  }

  compiled(dialect: Dialect): CompiledStatement {
    let compiled = this.#compiled.get(dialect);
    if (!compiled) {
      const names = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) }) as P;
      const query = this.#build(compilers[dialect], names, dialect).compile();
      compiled = {
        sql: query.sql,
        places: query.parameters.map((value) =>
          value instanceof Parameter
            ? { parameter: value.name, constant: null }
            : { parameter: null, constant: value },
        ),
      };
      this.#compiled.set(dialect, compiled);
    }
    return compiled;
  }

  /** The values for one execution, in the order of their places. */
  bind(dialect: Dialect, parameters: P): unknown[] {
    const given = parameters as Record<string, unknown>;
    const { places } = this.compiled(dialect);
    const values: unknown[] = [];
    // A plain loop: this runs twenty times a turn.
    for (const { parameter, constant } of places) {
      const value = parameter === null ? constant : given[parameter];
      if (value === undefined) throw new TypeError(`The parameter ${parameter} was not given.`);
      values.push(value);
    }
    return values;
  }
}

/**
 * Makes a statement: `statement<{ id: string }>()((k, p) => k.selectFrom("runs").selectAll().where("id", "=", p.id))`.
 * Inside, `p.x` stands for the value that is given at each execution; it may only be passed on, never looked at.
 */
export function statement<P>() {
  return <R>(build: BuildQuery<P, R>): Statement<P, R> => new Statement(build);
}
