import type { Feed } from "../http/ports.ts";

/** How often a look is taken without any hint: hints of other nodes may be lost with a connection. */
const POLL_MS = 1_000;

/** Carries the feed's hints of a gateway that may be stopped and started again, so that waiting goes on over a restart. */
export class Hints {
  readonly #hearers = new Set<() => void>();
  #unsubscribe: () => void = () => {};
  #stopped = false;

  follow(feed: Feed): void {
    this.#unsubscribe();
    this.#unsubscribe = feed.subscribe(null, () => this.tell());
    this.tell();
  }

  tell(): void {
    for (const hear of this.#hearers) hear();
  }

  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
    this.tell();
  }

  /**
   * Looks after every hint until there is something to give.
   * @throws what `look` throws, and an Error when the gateway is stopped meanwhile
   */
  async until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
    for (;;) {
      const hint = this.#next();
      try {
        if (this.#stopped) throw new Error(`The test gateway was stopped while waiting for ${what}.`);
        const found = await look();
        if (found !== null) return found;
        await hint.came;
      } finally {
        hint.forget();
      }
    }
  }

  /** The next hint; it is listened for before the look, so that none falls between. */
  #next(): { came: Promise<void>; forget: () => void } {
    let hear = (): void => {};
    const came = new Promise<void>((resolve) => {
      hear = resolve;
    });
    this.#hearers.add(hear);
    const poll = setTimeout(hear, POLL_MS);
    const forget = (): void => {
      clearTimeout(poll);
      this.#hearers.delete(hear);
    };
    return { came, forget };
  }
}
