/** Starts gateways as processes, kills them, and looks at what they left in their store. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Compilable, Kysely } from "kysely";
import type { Database } from "../../src/db/database.ts";
import type { Tables } from "../../src/db/tables.ts";
import { databaseTarget, openForReading } from "../../src/gateway/open-database.ts";
import type { WireAccepted } from "../../src/http/api.ts";
import type { CrashPlan } from "../../src/kernel/crash-points.ts";
import { silentLogger } from "../../src/kernel/logger.ts";
import { endLeases } from "./end-leases.ts";
import type { FreshStore, TestStore } from "./stores.ts";
import type { WebhookPeer } from "./webhook-peer.ts";

/** What a process is given. */
export interface CrashSettings {
  databaseUrl: string;
  dataDir: string;
  /** The file to which agents append a line when they begin. */
  executions: string;
  peer: { url: string; secret: string } | null;
  crash: CrashPlan | null;
  graceMs: number | null;
}

export type FromServer =
  | { kind: "ready"; url: string; boot: string }
  | { kind: "changed" }
  | { kind: "waiting"; run: string; gate: string }
  | { kind: "refused"; code: string; message: string }
  | { kind: "stopping" };

export interface ToServer {
  open: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Execution {
  run: string;
  agent: string;
  attempt: number;
  text: string;
}

/** What a client sends. `conversation` is a lane of its own. */
export interface Said {
  conversation: string;
  id: string;
  text: string;
}

/** One process, alive or dead. */
export class CrashProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<Exit>;
  readonly #changed = new Set<() => void>();
  /** Runs that wait at a gate, by its name. */
  readonly waiting = new Map<string, string>();
  url = "";
  boot = "";
  /** Why it did not start. */
  refused: { code: string; message: string } | null = null;
  /** It has heard SIGTERM. */
  isStopping = false;

  constructor(settings: CrashSettings) {
    const script = new URL("./crash-server.ts", import.meta.url);
    // Compiled code is kept from one process to the next: many of them begin here.
    const env = { ...process.env, NODE_COMPILE_CACHE: path.join(tmpdir(), "waybill-compile-cache") };
    const stdio: ("ignore" | "inherit" | "ipc")[] = ["ignore", "ignore", "inherit", "ipc"];
    this.#child = fork(script, [JSON.stringify(settings)], { env, execArgv: [], stdio });
    this.exited = once(this.#child, "exit").then(([code, signal]) => ({ code, signal }) as Exit);
    this.#child.on("message", (message: FromServer) => {
      if (message.kind === "ready") [this.url, this.boot] = [message.url, message.boot];
      if (message.kind === "refused") this.refused = message;
      if (message.kind === "stopping") this.isStopping = true;
      if (message.kind === "waiting") this.waiting.set(message.gate, message.run);
      this.#tell();
    });
    void this.exited.then(() => this.#tell());
  }

  #tell(): void {
    for (const resolve of this.#changed) resolve();
    this.#changed.clear();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isDead(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves when it serves, or when it is dead. */
  async begun(): Promise<void> {
    await this.until(() => this.url !== "");
  }

  /** Resolves when the condition holds, which is looked at whenever something has changed there; or when it is dead. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((resolve) => this.#changed.add(resolve));
      if (this.isDead || (await holds())) return;
      await changed;
    }
  }

  open(gate: string): void {
    this.#child.send({ open: gate } satisfies ToServer);
  }

  signal(name: NodeJS.Signals): void {
    if (!this.isDead) this.#child.kill(name);
  }

  async kill(): Promise<Exit> {
    this.signal("SIGKILL");
    return this.exited;
  }
}

/** A store and whatever processes use it, one after the other. */
export class CrashWorld {
  readonly store: TestStore;
  readonly peer: WebhookPeer | null;
  readonly #fresh: FreshStore;
  readonly #folder: string;
  readonly #processes: CrashProcess[] = [];
  #reader: Promise<Database> | null = null;

  private constructor(store: TestStore, peer: WebhookPeer | null, fresh: FreshStore, folder: string) {
    this.store = store;
    this.peer = peer;
    this.#fresh = fresh;
    this.#folder = folder;
  }

  static async make(store: TestStore, peer: WebhookPeer | null): Promise<CrashWorld> {
    const fresh = await store.fresh();
    return new CrashWorld(store, peer, fresh, await mkdtemp(path.join(tmpdir(), "waybill-crash-")));
  }

  /** Starts a process and waits until it serves or, by its plan, is dead. */
  async start(options: { crash?: CrashPlan; graceMs?: number } = {}): Promise<CrashProcess> {
    const { peer } = this;
    const process = new CrashProcess({
      databaseUrl: this.#fresh.databaseUrl,
      dataDir: this.#folder,
      executions: this.#executionsFile,
      peer: peer ? { url: peer.url, secret: peer.secret } : null,
      crash: options.crash ?? null,
      graceMs: options.graceMs ?? null,
    });
    this.#processes.push(process);
    await process.begun();
    return process;
  }

  get #executionsFile(): string {
    return path.join(this.#folder, "executions.jsonl");
  }

  executions(): Execution[] {
    if (!existsSync(this.#executionsFile)) return [];
    const lines = readFileSync(this.#executionsFile, "utf8").trim().split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Execution);
  }

  /** The address of a conversation, in the channel of this world. */
  addressOf(conversation: string): string {
    return this.peer ? `webhook:main/${conversation}` : `web:main/${conversation}`;
  }

  /** Says something as a client does. Null: no answer came, so nobody knows whether it was taken. */
  async say(process: CrashProcess, said: Said): Promise<WireAccepted | null> {
    if (process.url === "") return null; // It died before it served.
    try {
      const response = await fetch(this.#request(process, said));
      if (response.status === 202 || response.status === 200) return (await response.json()) as WireAccepted;
      throw new Error(`${said.id} was answered with ${response.status}: ${await response.text()}`);
    } catch (error) {
      // `fetch` throws a TypeError for a connection that was cut.
      if (error instanceof TypeError) return null;
      throw error;
    }
  }

  #request(process: CrashProcess, { conversation, id, text }: Said): Request {
    if (this.peer)
      return this.peer.message(process.url, { id, conversation: { id: conversation, kind: "dm" }, text });
    return new Request(`${process.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ conversation, id, text }),
    });
  }

  /** Looks into the store from outside, whoever has it open. */
  async look<R>(build: (k: Kysely<Tables>) => Compilable<R>): Promise<R[]> {
    this.#reader ??= openForReading(databaseTarget(this.#fresh.databaseUrl, this.#folder), silentLogger);
    const db = await this.#reader;
    return db.query((k) => build(k));
  }

  /** On Postgres a dead node's lease has to run out; this is that, without the wait. */
  endLeases(): Promise<void> {
    return endLeases(databaseTarget(this.#fresh.databaseUrl, this.#folder));
  }

  async dispose(): Promise<void> {
    for (const process of this.#processes) await process.kill();
    const reader = await this.#reader?.catch(() => null);
    await reader?.close();
    await this.#fresh.dispose();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
