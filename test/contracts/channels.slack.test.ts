import { eachStore } from "../support/stores.ts";
import { platformContract } from "./channel-platform.contract.ts";
import { channelContract } from "./channel.contract.ts";
import { slackHarness } from "./slack.harness.ts";

/** On the emulator; its faults are our own. */
eachStore((store) => {
  channelContract("slack", () => slackHarness(store));
  platformContract("slack", (options) => slackHarness(store, options));
});
