import type { Database } from "../db/database.ts";
import type { Feed, FeedHint } from "../http/ports.ts";

type Hear = (hint: FeedHint) => void;

/**
 * Carries hints of changes to whoever looks: listeners of this process at once, other nodes through the store's
 * notifications. A hint that is lost costs a reader the time to its next look, nothing else.
 */
export class FeedHub implements Feed {
  readonly #byAddress = new Map<string, Set<Hear>>();
  readonly #all = new Set<Hear>();
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  subscribe(address: string | null, hear: Hear): () => void {
    if (address === null) {
      this.#all.add(hear);
      return () => this.#all.delete(hear);
    }
    const hearers = this.#byAddress.get(address) ?? new Set<Hear>();
    this.#byAddress.set(address, hearers);
    hearers.add(hear);
    return () => {
      hearers.delete(hear);
      if (hearers.size === 0 && this.#byAddress.get(address) === hearers) this.#byAddress.delete(address);
    };
  }

  publish(hint: FeedHint): void {
    this.#tell(hint);
    // One process has nobody else to tell.
    if (this.#db.dialect === "postgres") this.#db.notify(`feed ${JSON.stringify(hint)}`);
  }

  /** Takes what another node notified. @returns false if it is not a hint */
  receive(topic: string): boolean {
    const hint = topic.startsWith("feed ") ? parseHint(topic.slice("feed ".length)) : null;
    if (hint) this.#tell(hint);
    return hint !== null;
  }

  #tell(hint: FeedHint): void {
    for (const hear of this.#byAddress.get(hint.address) ?? []) hear(hint);
    for (const hear of this.#all) hear(hint);
  }
}

/** Whoever may connect to the store can notify: what is no hint must not end this process. */
function parseHint(text: string): FeedHint | null {
  try {
    const hint = JSON.parse(text) as FeedHint | null;
    return typeof hint?.address === "string" ? hint : null;
  } catch {
    return null;
  }
}
