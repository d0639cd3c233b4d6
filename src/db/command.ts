import type { ReachCrashPoint } from "../kernel/crash-points.ts";
import type { Dialect, Statement } from "./statement.ts";

/** One statement with its values, as a command asks for it. */
export interface Step {
  statement: Statement<never, unknown>;
  parameters: unknown;
}

/**
 * What a command does, as a generator: it yields statements and is given their rows. It does no input or output of its
 * own, so the same source runs synchronously inside SQLite's writer thread and asynchronously on Postgres.
 */
export type Program<R> = Generator<Step, R, readonly unknown[]>;

export interface CommandEnv {
  dialect: Dialect;
  /** Milliseconds since 1970: the gateway's clock on SQLite, the database's on Postgres. */
  now: number;
  reach: ReachCrashPoint;
}

/**
 * A named transition: all of it happens, or nothing. Input and output are plain JSON-like data, since on SQLite they
 * cross a thread. A command throws a `WaybillError` to refuse; what it did is then rolled back.
 */
export interface Command<I, O> {
  readonly name: string;
  readonly run: (input: I, env: CommandEnv) => Program<O>;
}

export function command<I, O>(name: string, run: (input: I, env: CommandEnv) => Program<O>): Command<I, O> {
  return { name, run };
}

/** Executes a statement inside a command: all its rows. */
export function* all<P, R>(statement: Statement<P, R>, parameters: P): Program<R[]> {
  return (yield { statement: statement as Statement<never, unknown>, parameters }) as R[];
}

/** Executes a statement inside a command: its first row, if there is one. */
export function* first<P, R>(statement: Statement<P, R>, parameters: P): Program<R | undefined> {
  const rows = yield* all(statement, parameters);
  return rows[0];
}

/** Commands by name, as the writer finds them. */
export type CommandRegistry = ReadonlyMap<string, Command<never, unknown>>;

// The input type of each command is checked where it is made and where it is done; the registry only holds them.
// oxlint-disable-next-line typescript/no-explicit-any
export function registryOf(commands: readonly Command<any, unknown>[]): CommandRegistry {
  const registry = new Map<string, Command<never, unknown>>();
  for (const one of commands) {
    if (registry.has(one.name)) throw new TypeError(`Two commands have the name ${one.name}.`);
    registry.set(one.name, one as Command<never, unknown>);
  }
  return registry;
}
