/** `waybill/telegram`: a bot on Telegram. Needs the package `grammy`. */
export { telegram } from "./telegram-channel.ts";
export type { TelegramOptions } from "./telegram-settings.ts";
