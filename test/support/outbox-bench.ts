/** An outbox on a store of its own, with a platform that does as it is told and a clock that is moved by hand. */
import { parseAddress } from "../../src/address/address.ts";
import { openPostgres } from "../../src/db/postgres/open-postgres.ts";
import { openSqlite } from "../../src/db/sqlite/open-sqlite.ts";
import type { Database } from "../../src/db/database.ts";
import { defaultRetry, Outbox, type OutboxOptions } from "../../src/deliveries/outbox.ts";
import { placeOf } from "../../src/deliveries/plan-delivery.ts";
import type { NewDelivery } from "../../src/deliveries/record-delivery.ts";
import { retryDelivery } from "../../src/deliveries/retry-delivery.ts";
import type { OutgoingOp, ReconcileOutcome, Sender, SendOutcome } from "../../src/deliveries/sender.ts";
import { manualClock } from "../../src/kernel/clock.ts";
import { noCrash } from "../../src/kernel/crash-points.ts";
import { countingIds } from "../../src/kernel/ids.ts";
import { silentLogger } from "../../src/kernel/logger.ts";
import { backDate, layDeliveries, layPreview, layRemoval } from "./outbox-commands.ts";
import type { TestStore } from "./stores.ts";

export const tenant = "default";
export const tests = { attempts: 4, firstMs: 1_000, mostMs: 60_000, timeoutMs: 30_000 };

type Answer<T> = T | ((op: OutgoingOp, signal: AbortSignal) => T | Promise<T>);

/** A platform: keeps posts by key, and answers from a script; with none left it posts. */
export class FakePlatform implements Sender {
  readonly channel: string;
  readonly inTransaction = false;
  readonly can = { edit: true, delete: true, preview: true };
  /** What was asked, in order: `create dlv#0`, and `look` for what was reconciled. */
  readonly asked: string[] = [];
  readonly ops: OutgoingOp[] = [];
  /** What a person sees: posts in order. */
  readonly posts: { id: string; key: string; address: string; text: string }[] = [];
  denied: string | null = null;
  readonly #sends: Answer<SendOutcome>[] = [];
  readonly #looks: Answer<ReconcileOutcome>[] = [];
  readonly #told: () => void;

  constructor(channel: string, told: () => void) {
    this.channel = channel;
    this.#told = told;
  }

  thenSend(...answers: Answer<SendOutcome>[]): void {
    this.#sends.push(...answers);
  }

  thenLook(...answers: Answer<ReconcileOutcome>[]): void {
    this.#looks.push(...answers);
  }

  allows(): true | string {
    return this.denied ?? true;
  }

  split(text: string): string[] {
    return text.split("|");
  }

  async send(op: OutgoingOp, signal: AbortSignal): Promise<SendOutcome> {
    this.#note(op, op.kind);
    const answer = this.#sends.shift();
    if (answer === undefined) return this.post(op);
    return typeof answer === "function" ? answer(op, signal) : answer;
  }

  async reconcile(op: OutgoingOp, signal: AbortSignal): Promise<ReconcileOutcome> {
    this.#note(op, "look");
    const answer = this.#looks.shift() ?? ((): ReconcileOutcome => this.look(op));
    return typeof answer === "function" ? answer(op, signal) : answer;
  }

  /** Does what the op says, as the platform would. */
  post(op: OutgoingOp): SendOutcome {
    const id = op.target ?? `post-${this.posts.length + 1}`;
    const index = this.posts.findIndex((post) => post.id === id);
    const post = { id, key: op.key, address: op.address.conversation, text: op.text };
    if (op.kind === "create") this.posts.push(post);
    else if (op.kind === "edit") this.posts[index] = post;
    else this.posts.splice(index, 1);
    return { kind: "sent", receipt: { platformId: id } };
  }

  look(op: OutgoingOp): ReconcileOutcome {
    const post = this.posts.find((one) => one.key === op.key);
    return post ? { kind: "found", receipt: { platformId: post.id } } : { kind: "send-again" };
  }

  get texts(): string[] {
    return this.posts.map((post) => post.text);
  }

  #note(op: OutgoingOp, what: string): void {
    this.ops.push(op);
    this.asked.push(`${what} ${op.text === "" ? "-" : op.text}`);
    this.#told();
  }
}

export interface Settled {
  delivery: string;
  state: string;
}

export class OutboxBench {
  readonly db: Database;
  readonly clock = manualClock();
  readonly ids = countingIds();
  readonly platform: FakePlatform;
  readonly settled: Settled[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #outboxes: Outbox[] = [];
  readonly #dispose: () => Promise<void>;

  private constructor(db: Database, dispose: () => Promise<void>) {
    this.db = db;
    this.#dispose = dispose;
    this.platform = this.newPlatform("fake");
  }

  static async open(store: TestStore): Promise<OutboxBench> {
    const fresh = await store.fresh();
    // The bench has the clock, and SQLite's store needs it: it is bound after the bench is made.
    let bench: OutboxBench | null = null;
    const clock = {
      now: () => bench?.clock.now() ?? 0,
      after: (ms: number, callback: () => void) => bench?.clock.after(ms, callback) ?? ((): void => {}),
    };
    const commandsUrl = new URL("./outbox-commands.ts", import.meta.url).href;
    const log = silentLogger;
    const db =
      store.name === "sqlite"
        ? await openSqlite({ file: fresh.databaseUrl.replace(/^file:/, ""), commandsUrl, clock, log })
        : await openPostgres({ url: fresh.databaseUrl, log, connections: 4 });
    bench = new OutboxBench(db, fresh.dispose);
    return bench;
  }

  newPlatform(channel: string): FakePlatform {
    return new FakePlatform(channel, () => this.#tell());
  }

  outbox(options: Partial<OutboxOptions> = {}): Outbox {
    const outbox = new Outbox({
      tenant,
      owner: "boot_1",
      db: this.db,
      senders: new Map([["fake", this.platform]]),
      clock: this.clock,
      log: silentLogger,
      reach: noCrash,
      random: () => 1,
      retry: { ...defaultRetry, ...tests },
      onSettled: (delivery, _address, state) => {
        this.settled.push({ delivery, state });
        this.#tell();
      },
      ...options,
    });
    this.#outboxes.push(outbox);
    return outbox;
  }

  place(conversation: string, channel = "fake") {
    return placeOf(parseAddress(`${channel}:main/${conversation}`), "channel");
  }

  /** A delivery as a run would plan it; `|` in the text is where the platform splits. */
  plan(text: string, conversation = "a", more: Partial<NewDelivery> = {}, channel = "fake"): NewDelivery {
    return {
      tenant,
      id: this.ids.next("dlv"),
      kind: "send",
      run: null,
      turn: null,
      place: this.place(conversation, channel),
      rule: "explicit",
      rejected: [],
      message: { id: this.ids.next("msg"), text, parts: "{}", notice: null },
      mode: "outbox",
      pieces: text.split("|").map((piece) => ({ op: this.ids.next("op"), text: piece })),
      preview: false,
      ...more,
    };
  }

  async lay(...deliveries: NewDelivery[]): Promise<string[]> {
    await this.db.do(layDeliveries, deliveries);
    return deliveries.map((delivery) => delivery.id);
  }

  async layPreview(conversation = "a"): Promise<string> {
    const [id, op] = [this.ids.next("dlv"), this.ids.next("op")];
    await this.db.do(layPreview, { tenant, id, op, place: this.place(conversation), text: "working" });
    return id;
  }

  /** The answer that the preview's post is finished with. */
  finish(preview: string, text: string): Promise<string[]> {
    return this.lay(this.plan(text, "a", { id: preview, preview: true, kind: "final", run: "run_1" }));
  }

  async takeAway(preview: string): Promise<void> {
    await this.db.do(layRemoval, { tenant, id: preview, op: this.ids.next("op"), place: this.place("a") });
  }

  retryByHand(delivery: string): Promise<{ state: string }> {
    return this.db.do(retryDelivery, { tenant, delivery });
  }

  /** Lets time pass for the store and for the outbox. */
  async pass(ms: number): Promise<void> {
    if (this.db.dialect === "postgres") await this.db.do(backDate, { ms });
    this.clock.advance(ms);
  }

  async delivery(id: string) {
    const [row] = await this.db.query((k) => k.selectFrom("deliveries").selectAll().where("id", "=", id));
    if (!row) throw new Error(`There is no delivery ${id}.`);
    const receipts = await this.db.query((k) =>
      k.selectFrom("receipts").select(["part", "platform_id"]).where("delivery_id", "=", id).orderBy("part"),
    );
    return { ...row, receipts: receipts.map((receipt) => receipt.platform_id) };
  }

  async ops(delivery: string) {
    return this.db.query((k) =>
      k.selectFrom("ops").selectAll().where("delivery_id", "=", delivery).orderBy("op_seq"),
    );
  }

  /** Resolves when the condition holds; it is looked at whenever the platform was asked or something settled. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((resolve) => this.#waiting.add(resolve));
      if (await holds()) return;
      await changed;
    }
  }

  async untilState(delivery: string, state: string): Promise<void> {
    await this.until(async () => (await this.delivery(delivery)).state === state);
  }

  async untilSettled(times: number): Promise<void> {
    await this.until(() => this.settled.length >= times);
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async close(): Promise<void> {
    // What hangs is cut at once: no test waits for it.
    const stopping = this.#outboxes.map((outbox) => outbox.stop(0));
    this.clock.advance(0);
    await Promise.all(stopping);
    await this.db.close();
    await this.#dispose();
  }
}
