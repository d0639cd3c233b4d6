import type { WebClient } from "@slack/web-api";
import { WaybillError } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/logger.ts";
import { failureOf } from "./slack-api.ts";

export type PlaceKind = "dm" | "group" | "channel" | "unknown";

/** How long an answer of Slack is believed: a group message may become a channel, people change their names. */
const keptMs = 600_000;
/** After a failure it is asked again, but not for every message. */
const failedMs = 30_000;
/** A name is worth so much of the three seconds that Slack gives for an acknowledgement. */
const patienceMs = 1_000;
const most = 10_000;

interface Entry<T> {
  at: number;
  ms: number;
  value: Promise<T>;
}

/** What Slack says of conversations and people, remembered for a while. */
export class Directory {
  readonly #api: WebClient;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #people = new Map<string, Entry<string | null>>();
  readonly #places = new Map<string, Entry<{ kind: PlaceKind; title: string | null }>>();

  constructor(api: WebClient, clock: Clock, log: Logger) {
    this.#api = api;
    this.#clock = clock;
    this.#log = log;
  }

  /** The name that people see, or null where it cannot be had soon; nothing depends on it. */
  person(id: string): Promise<string | null> {
    const asked = this.#cached(this.#people, id, async () => {
      const { user } = await this.#api.users.info({ user: id });
      const said = user?.profile?.display_name || user?.real_name || user?.name;
      return said ? said.slice(0, 200) : null;
    });
    return this.#soon(asked);
  }

  /** The name of a channel, or null where it cannot be had soon. */
  async conversation(id: string): Promise<string | null> {
    return (await this.#soon(this.#info(id)))?.title ?? null;
  }

  /**
   * Who can read a conversation, by Slack's word: that of the event where it has one, else the answer to a question.
   * `unknown` is a conversation that Slack does not show us.
   * @throws WaybillError `platform_unavailable` if Slack cannot be asked now; the event is to be sent again
   */
  async place(id: string, channelType: string | null): Promise<{ kind: PlaceKind; title: string | null }> {
    const told = channelType === null ? undefined : kinds[channelType];
    if (told !== undefined) return { kind: told, title: await this.conversation(id) };
    try {
      return await this.#info(id);
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.kind === "refusal") return { kind: "unknown", title: null };
      throw new WaybillError(
        "platform_unavailable",
        `Slack could not be asked what kind of conversation ${id} is: ${failure.reason}.`,
      );
    }
  }

  #info(id: string): Promise<{ kind: PlaceKind; title: string | null }> {
    return this.#cached(this.#places, id, async () => {
      const { channel } = await this.#api.conversations.info({ channel: id });
      const kind = channel?.is_im ? "dm" : channel?.is_mpim ? "group" : channel ? "channel" : "unknown";
      return { kind, title: kind === "channel" ? (channel?.name?.slice(0, 200) ?? null) : null };
    });
  }

  #cached<T>(map: Map<string, Entry<T>>, id: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#clock.now();
    const known = map.get(id);
    if (known && now - known.at < known.ms) return known.value;
    const entry: Entry<T> = { at: now, ms: keptMs, value: ask() };
    entry.value.catch((thrown: unknown) => {
      const { kind, reason } = failureOf(thrown);
      entry.ms = kind === "refusal" ? failedMs : 0;
      this.#log.debug({ id, reason }, "Slack did not say what an id stands for");
    });
    map.delete(id);
    map.set(id, entry);
    if (map.size > most) map.delete(map.keys().next().value ?? "");
    return entry.value;
  }

  async #soon<T>(asked: Promise<T>): Promise<T | null> {
    let cancel = (): void => {};
    const late = new Promise<null>((resolve) => {
      cancel = this.#clock.after(patienceMs, () => resolve(null));
    });
    try {
      return await Promise.race([asked, late]);
    } catch {
      return null;
    } finally {
      cancel();
    }
  }
}

/** Slack's words for conversations (docs.slack.dev, event `message`); a private channel is a channel. */
const kinds: Readonly<Record<string, PlaceKind>> = {
  im: "dm",
  mpim: "group",
  channel: "channel",
  group: "channel",
};
