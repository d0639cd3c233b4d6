import { eachStore } from "../support/stores.ts";
import { platformContract } from "./channel-platform.contract.ts";
import { channelContract } from "./channel.contract.ts";
import { telegramHarness } from "./telegram.harness.ts";

/** On a fake of our own; `telegram-polling.test.ts` has the polling and `telegram-test-api`. */
eachStore((store) => {
  channelContract("telegram", () => telegramHarness(store));
  platformContract("telegram", (options) => telegramHarness(store, options));
});
