/** `waybill/webhook`: a channel to any program that can send and take signed HTTP requests. */
export { webhook } from "./webhook-channel.ts";
export type { WebhookOptions } from "./webhook-options.ts";
