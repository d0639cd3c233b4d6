import { eachStore } from "../support/stores.ts";
import { platformContract } from "./channel-platform.contract.ts";
import { channelContract } from "./channel.contract.ts";
import { webHarness, webhookHarness } from "./channels.harness.ts";

eachStore((store) => {
  channelContract("web", () => webHarness(store));
  channelContract("webhook", () => webhookHarness(store));
  platformContract("web", () => webHarness(store));
  platformContract("webhook", (options) => webhookHarness(store, options));
});
