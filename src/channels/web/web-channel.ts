import type { Channel, ChannelFactory } from "../channel.ts";

/** The one account of the web channel. */
export const webAccount = "main";

/**
 * The web channel: what is said there are rows of our own store, so a post and its receipt belong to the transaction
 * that finishes the run. Who may speak is decided at the door of the HTTP server, before anything gets here.
 */
export function web(): ChannelFactory {
  return { kind: "web", account: webAccount, connect: () => webChannel };
}

const webChannel: Channel = {
  kind: "web",
  account: webAccount,
  authorize: () => true,
  sender: {
    channel: "web",
    inTransaction: true,
    can: { edit: false, delete: false, preview: false },
    allows: (address) => address.account === webAccount || `the web channel has one account, ${webAccount}`,
    split: (text) => [text],
    send: () => Promise.reject(new TypeError("A web post has no op.")),
    reconcile: () => Promise.reject(new TypeError("A web post has no op.")),
  },
};
