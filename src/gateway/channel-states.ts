import type { ChannelState } from "../channels/channel.ts";
import type { WireChannel } from "../http/api.ts";

/** How each channel of this node stands. */
export class ChannelStates {
  readonly #states = new Map<string, { kind: string; account: string; state: ChannelState }>();
  readonly #heard = new Set<(name: string, state: ChannelState) => void>();

  report(kind: string, account: string, state: ChannelState): void {
    const name = `${kind}:${account}`;
    this.#states.set(name, { kind, account, state });
    for (const hear of this.#heard) hear(name, state);
  }

  of(kind: string, account: string): ChannelState | null {
    return this.#states.get(`${kind}:${account}`)?.state ?? null;
  }

  /** Returns how to stop. */
  onChange(hear: (name: string, state: ChannelState) => void): () => void {
    this.#heard.add(hear);
    return () => void this.#heard.delete(hear);
  }

  wire(): WireChannel[] {
    return [...this.#states.values()].map(({ kind, account, state }) => ({
      kind,
      account,
      state: state.kind,
      reason: ("reason" in state ? state.reason : null) ?? null,
    }));
  }
}
