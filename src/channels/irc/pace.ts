import type { Clock } from "../../kernel/clock.ts";

/** A bucket of lines: servers disconnect whoever sends too many at once. Whoever waits goes in order. */
export class Pace {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #burst: number;
  /** When the next line could go if the bucket were empty, in milliseconds. */
  #full = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock, { burst, everyMs }: { burst: number; everyMs: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#everyMs = everyMs;
  }

  /** Resolves when one more line may be sent. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => this.#wait());
    return this.#last;
  }

  async #wait(): Promise<void> {
    const now = this.#clock.now();
    this.#full = Math.max(this.#full, now) + this.#everyMs;
    const wait = this.#full - now - this.#burst * this.#everyMs;
    if (wait > 0) await new Promise<void>((resolve) => this.#clock.after(wait, resolve));
  }
}
