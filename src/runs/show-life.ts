import { parseAddress } from "../address/address.ts";
import { readReceipt } from "../deliveries/read-deliveries.ts";
import type { LiveSender } from "../deliveries/sender.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunServices } from "./services.ts";

/** How long the end of a run waits for a platform that is still showing something of it. */
const SETTLE_MS = 3_000;

/** What people are shown of a run until it ends. */
export interface Life {
  /**
   * Nothing is shown from here on. Resolves when a call to the platform has settled, so that the edit which finishes the
   * post comes after it; a platform that does not answer is left alone after three seconds.
   */
  end(): Promise<void>;
}

/** Shows that somebody works on it, and the answer as far as it is written. Best effort: errors are logged, no more. */
export function showLife(s: RunServices, live: LiveRun): Life {
  const sender = s.senders.get(live.place.channel)?.live;
  if (!sender || !live.run.foreground || s.allows(live.place) !== true)
    return { end: () => Promise.resolve() };
  const over = new AbortController();
  const showing = new Showing(s, live, sender, over.signal);
  try {
    sender.working?.(parseAddress(live.place.address), over.signal);
  } catch (error) {
    s.log.warn({ run: live.run.id, error: String(error) }, "that a run is going on could not be shown");
  }
  if (sender.show && live.preview !== null) showing.start();
  return {
    end() {
      over.abort();
      return showing.settled();
    },
  };
}

/** Calls `show` now and then, one call at a time. */
class Showing {
  readonly #s: RunServices;
  readonly #live: LiveRun;
  readonly #sender: LiveSender;
  readonly #over: AbortSignal;
  #target: string | null = null;
  #shown = "";
  #call: Promise<void> = Promise.resolve();

  constructor(s: RunServices, live: LiveRun, sender: LiveSender, over: AbortSignal) {
    this.#s = s;
    this.#live = live;
    this.#sender = sender;
    this.#over = over;
  }

  start(): void {
    const cancel = this.#s.clock.after(this.#sender.everyMs, () => {
      this.#call = this.#show().then(() => {
        if (!this.#over.aborted) this.start();
      });
    });
    this.#over.addEventListener("abort", cancel, { once: true });
  }

  async #show(): Promise<void> {
    const { run, text, abort, preview, place, saidHere } = this.#live;
    // What was said meanwhile stands below the preview, and the answer will too.
    if (abort.signal.aborted || saidHere || text === this.#shown || text.trim() === "") return;
    try {
      this.#target ??= await readReceipt(this.#s.db, this.#s.tenant, preview ?? "", 0);
      if (this.#target === null || this.#over.aborted) return;
      const post = { address: parseAddress(place.address), run: run.id, target: this.#target, text };
      await this.#sender.show?.(post, this.#over);
      this.#shown = text;
    } catch (error) {
      if (!this.#over.aborted)
        this.#s.log.warn(
          { run: run.id, error: String(error) },
          "an answer could not be shown as it is written",
        );
    }
  }

  async settled(): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => (cancel = this.#s.clock.after(SETTLE_MS, resolve)));
    await Promise.race([this.#call, late]);
    cancel();
  }
}
