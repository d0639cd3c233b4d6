import type { Address } from "../../address/address.ts";
import type { LivePost, LiveSender } from "../channel.ts";
import type { Bot } from "./bot.ts";
import { editText } from "./send.ts";
import { failureOf } from "./telegram-api.ts";

/** "typing…" is shown for five seconds (core.telegram.org/bots/api, sendChatAction). */
const againMs = 4_500;
const everyMs = 1_500;
/** In a group a bot may do about 20 things a minute (core.telegram.org/bots/faq), and the answer is one of them. */
const everyInGroupMs = 4_500;

/** People see that somebody works on it, and the answer as it is written. */
export function liveSender(bot: Bot, split: (text: string) => string[]): LiveSender {
  /** When something may be shown in a chat again, in milliseconds since 1970. */
  const quiet = new Map<string, number>();
  return {
    everyMs,
    working: (address, signal) => typing(bot, address, signal),
    async show({ address, target, text }: LivePost, signal) {
      const { conversation } = address;
      const now = bot.ports.clock.now();
      if (now < (quiet.get(conversation) ?? 0)) return;
      // Ids of groups are negative; it is about rates here, and not about who may read.
      if (conversation.startsWith("-")) quiet.set(conversation, now + everyInGroupMs);
      else quiet.delete(conversation);
      try {
        // What does not fit comes in posts of its own with the end.
        await editText(bot, Number(conversation), Number(target), split(text)[0] ?? text, signal);
      } catch (thrown) {
        const failure = failureOf(thrown);
        if (failure.kind === "busy") quiet.set(conversation, now + (failure.afterMs ?? everyInGroupMs));
        throw new Error(failure.reason, { cause: failure });
      }
    },
  };
}

function typing(bot: Bot, { conversation, thread }: Address, signal: AbortSignal): void {
  const { clock, log } = bot.ports;
  const topic = thread === null ? {} : { message_thread_id: Number(thread) };
  const action = { chat_id: Number(conversation), action: "typing" as const, ...topic };
  let cancel = (): void => {};
  const again = (): void => {
    bot.api.sendChatAction(action, signal as never).then(
      () => {
        if (!signal.aborted) cancel = clock.after(againMs, again);
      },
      (thrown: unknown) => {
        if (!signal.aborted) log.debug({ why: failureOf(thrown).reason }, "typing could not be shown");
      },
    );
  };
  signal.addEventListener("abort", () => cancel(), { once: true });
  if (!signal.aborted) again();
}
