import type { Channel, ChannelState } from "../channels/channel.ts";
import { asWaybillError } from "../kernel/errors.ts";
import type { Parts } from "./build.ts";

/** How long the start of a gateway waits for a channel; one that takes longer goes on by itself. */
const START_MS = 10_000;

/** Connects all channels at once. One that cannot work is `off` and says why; the others go on. */
export async function startChannels(parts: Parts): Promise<void> {
  const { services, channels } = parts;
  const late = new Promise<void>((resolve) => void services.clock.after(START_MS, resolve));
  await Promise.race([late, Promise.all(channels.all.map((channel) => startOne(parts, channel)))]);
}

async function startOne(parts: Parts, channel: Channel): Promise<void> {
  const { states, services, closing } = parts;
  const { kind, account } = channel;
  const name = `${kind}:${account}`;
  const first: ChannelState = { kind: channel.start ? "connecting" : "on" };
  states.report(kind, account, first);
  if (!channel.start) return;
  try {
    await channel.start();
    if (closing.now) await channel.stop?.();
    // One that has said itself how it stands knows better.
    else if (states.of(kind, account) === first) states.report(kind, account, { kind: "on" });
  } catch (thrown) {
    const { code, message } = asWaybillError(thrown);
    services.log.error({ channel: name, code }, `the channel ${name} is off: ${message}`);
    states.report(kind, account, { kind: "off", reason: message });
  }
}
