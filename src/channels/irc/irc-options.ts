import { z } from "zod";
import { formatAddress } from "../../address/address.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";

/** What `irc({ ... })` takes. */
export interface IrcOptions {
  host: string;
  /** Default 6697 with TLS, else 6667. */
  port?: number;
  /** Default true. */
  tls?: boolean;
  nick: string;
  /** The account in addresses, `irc:{account}/{channel or nick}`. Default: the host. */
  account?: string;
  /** The server's password. */
  password?: string;
  /** The services account that the bot logs in to. */
  sasl?: { account: string; password: string };
  /**
   * `users`: `account:NAME` (a services account, which the server vouches for) or a nick (which anybody may take), or
   * `"*"` for all. `channels`: those that are joined and answered in. `dms`: whether private messages are taken.
   */
  allow: { users: readonly string[] | "*"; channels: readonly string[]; dms: boolean };
  /** In channels: only what names the bot (default), or everything. */
  listen?: "mentions" | "all";
  /** Lines that may be sent at once, and then one for each so many milliseconds. Default 5 and 1,000. */
  pace?: { burst?: number; everyMs?: number };
}

export interface IrcSettings {
  host: string;
  port: number;
  tls: boolean;
  nick: string;
  account: string;
  password?: string;
  sasl?: { account: string; password: string };
  allow: { users: readonly string[] | "*"; channels: readonly string[]; dms: boolean };
  listen: "mentions" | "all";
  pace: { burst: number; everyMs: number };
}

const text = z.string({ error: "must be a text" }).min(1, { error: "must not be empty" });
/** What would end a line or a parameter of the protocol (RFC 2812, 2.3.1) could say anything in the bot's name. */
const word = text.regex(/^[^\s\0,:][^\s\0,]*$/u, {
  error: "must have no spaces, commas or line ends, nor begin with :",
});
const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};
const login = z.strictObject({ account: text, password: text });

const shape = z.strictObject(
  {
    host: word,
    port: whole(1, 65_535).optional(),
    tls: z.boolean({ error: "must be true or false" }).default(true),
    nick: word,
    account: text.superRefine(checkAccount).optional(),
    password: text.optional(),
    sasl: login.optional(),
    allow: z.strictObject(
      {
        users: z.union([z.literal("*"), z.array(text)], {
          error: 'must be a list of nicks and account:NAME, or "*" for all',
        }),
        channels: z.array(word, { error: "must be a list of channels, such as #team" }),
        dms: z.boolean({ error: "must be true or false" }),
      },
      {
        error: ({ code }) =>
          code === "invalid_type"
            ? 'is needed: { users: ["..."] or "*", channels: ["#..."], dms: true or false }. Nobody is let in by leaving it out'
            : undefined,
      },
    ),
    listen: z.enum(["mentions", "all"], { error: 'must be "mentions" or "all"' }).default("mentions"),
    pace: z
      .strictObject({ burst: whole(1, 1_000).default(5), everyMs: whole(0, 60_000).default(1_000) })
      .default({ burst: 5, everyMs: 1_000 }),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must be an object" : undefined) },
);

function checkAccount(account: string, context: z.RefinementCtx): void {
  try {
    formatAddress({ channel: "irc", account, conversation: "any", thread: null });
  } catch (thrown) {
    context.addIssue({ code: "custom", message: `cannot be used: ${asWaybillError(thrown).message}` });
  }
}

/**
 * The settings with their defaults.
 * @throws WaybillError `config_invalid`; `details.field` is the first field at fault, as `irc.allow.users`
 */
export function readIrcOptions(options: IrcOptions): IrcSettings {
  const read = shape.safeParse(options);
  if (!read.success) {
    const issues = read.error.issues.map((issue) => ({
      field: [
        "irc",
        ...issue.path.map(String),
        ...(issue.code === "unrecognized_keys" ? issue.keys : []),
      ].join("."),
      rule: issue.code === "unrecognized_keys" ? "is not a setting" : issue.message,
    }));
    const said = issues.map(({ field, rule }) => `${field} ${rule}.`).join(" ");
    throw new WaybillError("config_invalid", said, { field: issues[0]?.field, issues });
  }
  const { port, account, allow, ...rest } = read.data;
  return {
    ...rest,
    port: port ?? (rest.tls ? 6697 : 6667),
    account: account ?? rest.host,
    allow: { ...allow, channels: allow.channels.map(sameCase) },
  };
}

/** Names on IRC are the same in either case; RFC 1459 counts `{}|^` as small letters of `[]\~`. */
export function sameCase(name: string): string {
  return name
    .toLowerCase()
    .replaceAll("[", "{")
    .replaceAll("]", "}")
    .replaceAll("\\", "|")
    .replaceAll("~", "^");
}
