import type { ChannelFactory, ChannelFinding, ChannelPorts } from "../channels/channel.ts";
import { systemClock } from "../kernel/clock.ts";
import { asWaybillError, WaybillError } from "../kernel/errors.ts";
import { systemIds } from "../kernel/ids.ts";
import { silentLogger } from "../kernel/logger.ts";

/** How long one channel may take. Milliseconds. */
const CHECK_MS = 15_000;

export interface CheckedChannel {
  kind: string;
  account: string;
  /** Null: this kind has nothing to ask its platform. */
  findings: ChannelFinding[] | null;
}

/** Asks the platform of each channel whether what is set does what is needed. No gateway runs, and nothing is sent. */
export function checkChannels(factories: readonly ChannelFactory[]): Promise<CheckedChannel[]> {
  return Promise.all(factories.map(checkOne));
}

async function checkOne(factory: ChannelFactory): Promise<CheckedChannel> {
  const { kind, account } = factory;
  const late = new AbortController();
  let cancel = (): void => {};
  const isLate = new Promise<ChannelFinding[]>((resolve) => {
    cancel = systemClock.after(CHECK_MS, () => {
      late.abort();
      const text = `${kind} did not answer within ${CHECK_MS / 1_000} s`;
      resolve([{ ok: false, text, fix: "Look at the network, and try again." }]);
    });
  });
  try {
    const channel = factory.connect(noPorts);
    if (!channel.check) return { kind, account, findings: null };
    return { kind, account, findings: await Promise.race([channel.check(late.signal), isLate]) };
  } catch (thrown) {
    return { kind, account, findings: [{ ok: false, text: asWaybillError(thrown).message }] };
  } finally {
    cancel();
  }
}

const nothing = (): Promise<never> =>
  Promise.reject(new WaybillError("shutting_down", "Nothing comes in here: a channel is checked only."));

const noPorts: ChannelPorts = {
  inbox: { accept: nothing, amend: nothing, withdraw: nothing },
  clock: systemClock,
  ids: systemIds,
  log: silentLogger,
  knows: () => Promise.resolve(false),
  why: nothing,
  hold: nothing,
  report: () => {},
};
