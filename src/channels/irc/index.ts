/** `waybill/irc`: channels and private messages of an IRC server. */
export { irc } from "./irc-channel.ts";
export type { IrcOptions } from "./irc-options.ts";
