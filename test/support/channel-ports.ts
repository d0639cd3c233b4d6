/** What a channel is given, for tests that connect one without a gateway. */
import type { ChannelPorts } from "../../src/channels/channel.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { countingIds } from "../../src/kernel/ids.ts";
import { silentLogger } from "../../src/kernel/logger.ts";

const nobody = (): Promise<never> => Promise.reject(new Error("Nothing comes in here."));

export function channelPorts(given: Partial<ChannelPorts> = {}): ChannelPorts {
  return {
    inbox: { accept: nobody, amend: nobody, withdraw: nobody },
    clock: systemClock,
    ids: countingIds(),
    log: silentLogger,
    knows: () => Promise.resolve(false),
    why: () => Promise.resolve("it is a test"),
    hold: () =>
      Promise.resolve({ held: true, lost: new AbortController().signal, release: () => Promise.resolve() }),
    report: () => {},
    ...given,
  };
}
