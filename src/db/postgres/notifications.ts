import type { Client, Pool } from "pg";
import type { Logger } from "../../kernel/logger.ts";

const CHANNEL = "waybill";
const RECONNECT_MS = 500;

/**
 * NOTIFY and LISTEN. It is a hint that saves waiting for the next poll, never the only way to learn of something: a
 * notification that is lost with its connection costs latency, not correctness.
 */
export class Notifications {
  readonly #connect: () => Client;
  readonly #pool: Pool;
  readonly #log: Logger;
  readonly #hearers = new Set<(topic: string) => void>();
  readonly #pending = new Set<string>();
  #client: Client | null = null;
  #closed = false;
  #retry: NodeJS.Timeout | null = null;

  constructor(connect: () => Client, pool: Pool, log: Logger) {
    this.#connect = connect;
    this.#pool = pool;
    this.#log = log;
  }

  /** Tells the other processes; the same topic within one turn of the event loop is told once. */
  notify(topic: string): void {
    if (this.#closed || this.#pending.has(topic)) return;
    this.#pending.add(topic);
    setImmediate(() => {
      this.#pending.delete(topic);
      if (this.#closed) return;
      this.#pool
        .query({ name: "notify", text: "select pg_notify($1, $2)", values: [CHANNEL, topic] })
        .catch((error: Error) => this.#log.warn({ error: error.message }, "a notification was not sent"));
    });
  }

  listen(hear: (topic: string) => void): () => void {
    this.#hearers.add(hear);
    if (!this.#client && !this.#closed) this.#open();
    return () => this.#hearers.delete(hear);
  }

  #open(): void {
    const client = this.#connect();
    this.#client = client;
    client.on("notification", (message) => {
      for (const hear of this.#hearers) hear(message.payload ?? "");
    });
    client.on("error", (error) => this.#lost(client, error));
    client.on("end", () => this.#lost(client, new Error("the connection ended")));
    client
      .connect()
      .then(() => client.query(`listen ${CHANNEL}`))
      .catch((error: Error) => this.#lost(client, error));
  }

  #lost(client: Client, error: Error): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    this.#log.warn({ error: error.message }, "notifications are interrupted; polling goes on");
    client.end().catch(() => {});
    this.#retry = setTimeout(() => this.#open(), RECONNECT_MS);
    this.#retry.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}
