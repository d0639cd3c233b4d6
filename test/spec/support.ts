/** What scenarios share: a gateway on a store of its own, and gates to wait for instead of time. */
import type { Kysely, Compilable } from "kysely";
import type { Tables } from "../../src/db/tables.ts";
import { databaseTarget, openForReading } from "../../src/gateway/open-database.ts";
import { silentLogger } from "../../src/kernel/logger.ts";
import { type TestGateway, type TestGatewayOptions, testGateway } from "../../src/test-kit/index.ts";
import type { WaybillConfig } from "../../src/gateway/settings.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import type { FreshStore, TestStore } from "../support/stores.ts";

export interface SpecGateway extends TestGateway {
  /** Where its store is, for a second gateway or a look that the kit does not offer. */
  readonly databaseUrl: string;
}

/** A gateway on a new store; both go away at the end of the block: `await using t = await gatewayOn(store, config)`. */
export async function gatewayOn(
  store: TestStore,
  config: WaybillConfig,
  options: TestGatewayOptions = {},
): Promise<SpecGateway> {
  const fresh = await store.fresh();
  try {
    const t = await testGateway(config, { databaseUrl: fresh.databaseUrl, ...options });
    return withStore(t, fresh);
  } catch (error) {
    await fresh.dispose();
    throw error;
  }
}

function withStore(t: TestGateway, fresh: FreshStore): SpecGateway {
  const dispose = async () => {
    try {
      await t.stop();
    } finally {
      await fresh.dispose();
    }
  };
  return Object.defineProperties(t, {
    databaseUrl: { value: fresh.databaseUrl },
    [Symbol.asyncDispose]: { value: dispose },
  }) as SpecGateway;
}

/** Reads a store from outside of the gateway that runs on it. */
export async function readTables<R>(
  databaseUrl: string,
  build: (k: Kysely<Tables>) => Compilable<R>,
): Promise<R[]> {
  const db = await openForReading(databaseTarget(databaseUrl, "."), silentLogger);
  try {
    return await db.query((k) => build(k));
  } finally {
    await db.close();
  }
}

/** Something that an agent waits at until the test opens it. */
export interface Gate {
  open(): void;
  readonly opened: Promise<void>;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}

/** Gates by name, made when first asked for. */
export function gates(): (name: string) => Gate {
  const made = new Map<string, Gate>();
  return (name) => {
    const found = made.get(name) ?? gate();
    made.set(name, found);
    return found;
  };
}

/** The error's code and what it says to use instead. */
export async function refusal(action: () => Promise<unknown>): Promise<{ code: string; use: unknown }> {
  try {
    await action();
  } catch (error) {
    if (error instanceof WaybillError) return { code: error.code, use: error.details["use"] };
    throw error;
  }
  return { code: "nothing was refused", use: undefined };
}

/** Address and text of messages, to compare with. */
export function told(messages: readonly { address: string; text: string }[]): [string, string][] {
  return messages.map(({ address, text }) => [address, text]);
}
