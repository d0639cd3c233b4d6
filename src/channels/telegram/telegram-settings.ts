import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";
import { formatAddress } from "../../address/address.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";

/** What `telegram({ ... })` takes. */
export interface TelegramOptions {
  /** `123456789:AA…`, as @BotFather gives it. */
  botToken: string;
  /** Who may speak to agents, and where agents may post. An empty list allows nobody. */
  allow: {
    /** Ids of people, or `"*"` for everybody who finds the bot. Not their @names: a name can become somebody else's. */
    users: readonly (string | number)[] | "*";
    /** Ids of groups and channels (most begin with -100), or `"*"` for all that the bot is in. */
    chats: readonly (string | number)[] | "*";
    /** True: private chats, with whoever is in `users`. */
    dms: boolean;
  };
  /** The account in addresses, `telegram:{account}/{chat}[/{topic}]`. Default: the bot's id, the number in its token. */
  account?: string;
  /**
   * Given: Telegram sends updates to `/channels/telegram/{account}`, with this secret (1 to 256 of `A-Za-z0-9_-`) in a
   * header. With `url`, the gateway's public address, Telegram is told so at each start. Left out: updates are polled.
   */
  webhook?: { secret: string; url?: string };
  /**
   * What is heard in groups. `mentions` (the default): messages that name the bot, answer one of its posts or are a
   * command for it. `all`: every message. Private chats are always heard.
   */
  listen?: "mentions" | "all";
  /** True (the default): a post appears as soon as the work begins, and becomes the answer. */
  preview?: boolean;
  /** Characters (UTF-16 code units) of one post; longer answers are split. Default and most 4,096. */
  maxText?: number;
  /** Bytes of one file that a person sends; a larger one is left out, and the person is told. Default 5 MiB, most 20. */
  maxFileBytes?: number;
  /** Milliseconds that Telegram has to answer. Default 15,000. */
  timeoutMs?: number;
  /** A Bot API server of your own, instead of `https://api.telegram.org`. */
  apiRoot?: string;
}

export type TelegramSettings = Readonly<
  Required<Omit<TelegramOptions, "webhook" | "allow">> & {
    allow: { users: readonly string[] | "*"; chats: readonly string[] | "*"; dms: boolean };
    webhook: { secret: string; url: string | null } | null;
  }
>;

/** Bots can fetch no larger files (core.telegram.org/bots/api, getFile). */
const mostFileBytes = 20 * 1_048_576;

const ids = (what: string, example: string) =>
  z.union([z.literal("*"), z.array(z.union([z.string(), z.int()]).transform(String).superRefine(checkId))], {
    error: `must be a list of ids of ${what}, such as ${example}, or "*" for all`,
  });

function checkId(id: string, context: z.RefinementCtx): void {
  if (/^-?[1-9]\d{0,15}$/.test(id)) return;
  const why = id.startsWith("@") ? ", not a name, which can become somebody else's" : "";
  context.addIssue({
    code: "custom",
    message: `must be a numeric id${why}; who is turned away stands in \`waybill denials\` with the id to copy`,
  });
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });

const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};

const howToAllow =
  'is needed: { users: [123…] or "*", chats: [-100…] or "*", dms: true or false }. Nobody is let in by leaving it out';

const shape = z.strictObject(
  {
    botToken: z.string({ error: "must be a text" }).regex(/^\d{1,20}:[\w-]{1,200}$/, {
      error: "must be a number, a colon and a key (123456789:AA…), as @BotFather gives it",
    }),
    allow: z.strictObject(
      {
        users: ids("people", "123456789"),
        chats: ids("groups and channels", "-1001234567890"),
        dms: z.boolean({ error: "must be true or false" }),
      },
      { error: ({ code }) => (code === "invalid_type" ? howToAllow : undefined) },
    ),
    account: text.superRefine(checkAccount).optional(),
    webhook: z
      .strictObject(
        {
          secret: z
            .string({ error: "must be a text" })
            .regex(/^[\w-]{1,256}$/, { error: "must be 1 to 256 of A-Z, a-z, 0-9, _ and -" }),
          url: text.superRefine((url, context) => checkUrl(url, ["https:", "http:"], context)).optional(),
        },
        { error: ({ code }) => (code === "invalid_type" ? 'must be { secret: "…" }' : undefined) },
      )
      .optional(),
    listen: z.enum(["mentions", "all"], { error: "must be mentions or all" }).default("mentions"),
    preview: z.boolean({ error: "must be true or false" }).default(true),
    maxText: whole(10, 4_096).default(4_096),
    maxFileBytes: whole(0, mostFileBytes).default(5 * 1_048_576),
    timeoutMs: whole(1, 600_000).default(15_000),
    apiRoot: text
      .superRefine((url, context) => checkUrl(url, ["https:", "http:"], context))
      .default("https://api.telegram.org"),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must be an object" : undefined) },
);

function checkUrl(given: string, protocols: readonly string[], context: z.RefinementCtx): void {
  const url = URL.canParse(given) ? new URL(given) : null;
  const rule =
    url === null || !protocols.includes(url.protocol)
      ? "must be a URL that begins with https:// or http://"
      : url.username !== "" || url.password !== ""
        ? "must not hold a user name or password"
        : null;
  if (rule !== null) context.addIssue({ code: "custom", message: rule });
}

function checkAccount(account: string, context: z.RefinementCtx): void {
  try {
    formatAddress({ channel: "telegram", account, conversation: "1", thread: null });
  } catch (thrown) {
    context.addIssue({ code: "custom", message: `cannot be used: ${asWaybillError(thrown).message}` });
  }
}

/**
 * The settings with their defaults.
 * @throws WaybillError `config_invalid`; `details.field` is the first field at fault, as `telegram.allow.users`
 */
export function readTelegramOptions(options: TelegramOptions): TelegramSettings {
  const read = shape.safeParse(options);
  if (!read.success) {
    const issues = read.error.issues.flatMap(toIssues);
    const said = issues.map(({ field, rule }) => `${field} ${rule}.`).join(" ");
    throw new WaybillError("config_invalid", said, { field: issues[0]?.field, issues });
  }
  const { account, webhook, apiRoot, ...rest } = read.data;
  return {
    ...rest,
    account: account ?? botIdOf(rest.botToken),
    webhook: webhook ? { secret: webhook.secret, url: webhook.url?.replace(/\/+$/, "") ?? null } : null,
    apiRoot: apiRoot.replace(/\/+$/, ""),
  };
}

/** The number before the colon of a token is the bot's id. */
function botIdOf(token: string): string {
  return token.slice(0, token.indexOf(":"));
}

/** What is known where, for the nearest name. */
const known: Readonly<Record<string, readonly string[]>> = {
  telegram: Object.keys(shape.shape),
  "telegram.allow": ["users", "chats", "dms"],
  "telegram.webhook": ["secret", "url"],
};

function toIssues(issue: z.core.$ZodIssue): { field: string; rule: string }[] {
  const field = ["telegram", ...issue.path.map(String)].join(".");
  if (issue.code !== "unrecognized_keys") return [{ field, rule: issue.message }];
  return issue.keys.map((key) => {
    const names = known[field] ?? [];
    const nearest = closest(key, [...names]);
    const isNear = distance(key, nearest) <= Math.max(2, Math.floor(key.length / 3));
    const help = isNear ? `did you mean "${nearest}"?` : `there is ${names.join(", ")}`;
    return { field: `${field}.${key}`, rule: `is not known: ${help}` };
  });
}
