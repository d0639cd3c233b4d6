/** `waybill/slack`: a workspace of Slack. Needs the package `@slack/web-api`. */
export { slack } from "./slack-channel.ts";
export type { SlackOptions } from "./slack-settings.ts";
