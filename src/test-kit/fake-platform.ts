import { formatAddress } from "../address/address.ts";
import type { OutgoingOp, Receipt, SendOutcome } from "../deliveries/sender.ts";

/** A post as people see it on the fake platform. */
export interface PlatformPost {
  id: string;
  address: string;
  text: string;
  /** The key of the op that made it. */
  key: string;
  edits: number;
}

/**
 * How one attempt ends. `done: true` on an `unclear` one: the platform did it and its answer was lost. `hang`: no
 * answer until the attempt is cut off or `release` is called. `throw`: the client library throws.
 */
export type ScriptedOutcome =
  | Exclude<SendOutcome, { kind: "unclear" | "sent" }>
  | { kind: "sent" }
  | { kind: "unclear"; reason?: string; done?: boolean }
  | { kind: "hang" }
  | { kind: "throw"; message?: string };

/** A platform in memory: takes ops by key, keeps posts, and fails as it is told. */
export class FakePlatform {
  readonly attempts: { op: OutgoingOp; outcome: SendOutcome["kind"] | "threw" }[] = [];
  readonly #posts: PlatformPost[] = [];
  readonly #receipts = new Map<string, Receipt>();
  readonly #closed = new Map<string, string>();
  readonly #script: ScriptedOutcome[] = [];
  #waiting: { least: number; resolve: () => void }[] = [];
  readonly #hanging: (() => void)[] = [];
  #counted = 0;
  #made = 0;

  script(...outcomes: ScriptedOutcome[]): void {
    this.#script.push(...outcomes);
  }

  close(address: string, reason: string): void {
    this.#closed.set(address, reason);
  }

  posts(address?: string): PlatformPost[] {
    return this.#posts
      .filter((post) => address === undefined || post.address === address)
      .map((post) => ({ ...post }));
  }

  receiptOf(key: string): Receipt | null {
    return this.#receipts.get(key) ?? null;
  }

  attempted(count: number): Promise<void> {
    if (this.#counted >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ least: count, resolve }));
  }

  async send(op: OutgoingOp, signal: AbortSignal): Promise<SendOutcome> {
    const scripted = this.#script.shift() ?? { kind: "sent" };
    const record: { op: OutgoingOp; outcome: SendOutcome["kind"] | "threw" } = { op, outcome: "unclear" };
    this.attempts.push(record);
    this.#count();
    if (scripted.kind === "hang") {
      await this.#letGo(signal);
      return { kind: "unclear", reason: "no answer came" };
    }
    if (scripted.kind === "throw") {
      record.outcome = "threw";
      throw new Error(scripted.message ?? "the connection broke");
    }
    const outcome = this.#outcome(op, scripted);
    record.outcome = outcome.kind;
    return outcome;
  }

  /** Attempts that hang end, without an answer. */
  release(): void {
    for (const letGo of this.#hanging.splice(0)) letGo();
  }

  #letGo(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#hanging.push(resolve);
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #outcome(op: OutgoingOp, scripted: Exclude<ScriptedOutcome, { kind: "hang" | "throw" }>): SendOutcome {
    const gone = this.#closed.get(formatAddress(op.address));
    if (gone !== undefined) return { kind: "blocked", reason: gone };
    switch (scripted.kind) {
      case "sent":
        return { kind: "sent", receipt: this.#do(op) };
      case "unclear":
        if (scripted.done === true) this.#do(op);
        return { kind: "unclear", reason: scripted.reason ?? "no answer came" };
      default:
        return scripted;
    }
  }

  /** The same key again is the same post, as on platforms that deduplicate. */
  #do(op: OutgoingOp): Receipt {
    const before = this.#receipts.get(op.key);
    if (before) return before;
    const receipt = this.#apply(op);
    this.#receipts.set(op.key, receipt);
    return receipt;
  }

  #apply(op: OutgoingOp): Receipt {
    const standing = this.#posts.findIndex((post) => post.id === op.target);
    const post = this.#posts[standing];
    if (op.kind === "delete" && post) this.#posts.splice(standing, 1);
    if (op.kind === "edit" && post) {
      post.text = op.text;
      post.edits += 1;
    }
    if (op.kind !== "create") return { platformId: op.target ?? "" };
    this.#made += 1;
    const id = `p-${this.#made}`;
    const address = formatAddress(op.address);
    this.#posts.push({ id, address, text: op.text, key: op.key, edits: 0 });
    return { platformId: id, permalink: `https://platform.test/${id}` };
  }

  #count(): void {
    this.#counted += 1;
    for (const waiter of this.#waiting.filter(({ least }) => this.#counted >= least)) waiter.resolve();
    this.#waiting = this.#waiting.filter(({ least }) => this.#counted < least);
  }
}
