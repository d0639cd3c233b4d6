import type { ChannelState } from "../channels/channel.ts";

/** How each channel of this node stands, by `kind:account`. */
export class ChannelStates {
  readonly #states = new Map<string, ChannelState>();
  readonly #heard = new Set<(name: string, state: ChannelState) => void>();

  report(name: string, state: ChannelState): void {
    this.#states.set(name, state);
    for (const hear of this.#heard) hear(name, state);
  }

  /** Returns how to stop. */
  onChange(hear: (name: string, state: ChannelState) => void): () => void {
    this.#heard.add(hear);
    return () => void this.#heard.delete(hear);
  }

  all(): { channel: string; state: ChannelState }[] {
    return [...this.#states].map(([channel, state]) => ({ channel, state }));
  }
}
