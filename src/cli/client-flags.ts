import type { Command } from "commander";
import { addStoreFlags } from "./server-flags.ts";
import { connect, type Client, type ClientFlags } from "./client.ts";

/** The flags of commands that ask a gateway, or read its store where none runs. */
export function addClientFlags(command: Command): Command {
  return addStoreFlags(
    command
      .option("--url <url>", "a running gateway; its token is WAYBILL_TOKEN (WAYBILL_URL)")
      .option("--port <number>", "the gateway on this port of this machine"),
  );
}

/** Connects, does the work, lets go. */
export async function withClient<T>(flags: ClientFlags, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(flags);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The query of a path, without what is not set: `?state=running&limit=20`. */
export function queryOf(values: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set).toString()}`;
}

/** An id as a part of a path. */
export function pathId(id: string): string {
  return encodeURIComponent(id);
}
