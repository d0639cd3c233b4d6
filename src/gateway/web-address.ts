import { formatAddress } from "../address/address.ts";
import { webAccount } from "../channels/web/web-channel.ts";

/**
 * The address of a conversation on the web channel, or of a thread of it.
 * @throws WaybillError `invalid_address` for an id that cannot be part of an address
 */
export function webAddressText(conversation: string, thread: string | null): string {
  return formatAddress({ channel: "web", account: webAccount, conversation, thread });
}
