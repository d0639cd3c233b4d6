import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";
import { formatAddress } from "../../address/address.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";

/** What `slack({ ... })` takes. */
export interface SlackOptions {
  /**
   * The id of the workspace (`T…`). Addresses are `slack:{account}/{conversation}[/{thread}]`, so a token of another
   * workspace can never post under them: it is compared with what Slack says of the token before anything is sent.
   */
  account: string;
  /** `xoxb-…`, of the app's page "OAuth & Permissions". */
  botToken: string;
  /** Of the app's page "Basic Information". Needed for events over HTTP, at `/channels/slack/events`. */
  signingSecret?: string;
  /** `xapp-…` with the scope `connections:write`. Given: events come over Socket Mode. */
  appToken?: string;
  /** Instead of Slack's own, `https://slack.com/api/`. */
  apiUrl?: string;
  /** Who may speak to agents, and where agents may post. An empty list allows nobody. */
  allow: {
    /** Ids of people (`U…`, `W…`), or `"*"` for everybody, guests and people of shared channels too. */
    users: readonly string[] | "*";
    /** Ids of channels (`C…`, `G…`), or `"*"` for all that the bot is in. */
    channels: readonly string[] | "*";
    /** True: direct messages and group messages, with whoever is in `users`. */
    dms: boolean;
  };
  /** `thread` (the default): the answer opens a thread below the question. `conversation`: it stands where it was asked. */
  answerIn?: "thread" | "conversation";
  /**
   * What is heard in channels and group messages. `mentions` (the default): messages that name the bot, and all of a
   * thread in which it was named or has posted. `all`: every message. Direct messages are always heard.
   */
  listen?: "mentions" | "all";
  /** True (the default): a post appears as soon as the work begins, and becomes the answer. */
  preview?: boolean;
  /**
   * Characters (UTF-16 code units) of one post; longer answers are split. Default 3,500, at most 8,000; Slack advises at
   * most 4,000.
   */
  maxText?: number;
  /** Bytes of all files of one message; what does not fit is left out, and the person is told. Default 1 MiB. */
  maxFileBytes?: number;
  /** Milliseconds that Slack has to answer. Default 15,000. */
  timeoutMs?: number;
}

export type SlackSettings = Readonly<
  Required<Omit<SlackOptions, "signingSecret" | "appToken" | "apiUrl">> & {
    signingSecret: string | null;
    appToken: string | null;
    apiUrl: string;
  }
>;

const ids = (what: string) =>
  z.union([z.literal("*"), z.array(z.string().min(1))], {
    error: `must be a list of ids of ${what}, or "*" for all`,
  });

const token = (prefix: string) =>
  z
    .string({ error: `must be a text that begins with ${prefix}` })
    .startsWith(prefix, { error: `must begin with ${prefix}` });

const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};

const howToAllow =
  'is needed: { users: ["U…"] or "*", channels: ["C…"] or "*", dms: true or false }. Nobody is let in by leaving it out';

const shape = z.strictObject(
  {
    account: z
      .string({
        error:
          "is needed: the id of the workspace, which begins with T. It stands in the address of Slack in a browser, https://app.slack.com/client/T…",
      })
      .superRefine(checkAccount),
    botToken: token("xoxb-"),
    signingSecret: z.string({ error: "must be a text" }).min(1, { error: "must not be empty" }).optional(),
    appToken: token("xapp-").optional(),
    apiUrl: z.string({ error: "must be a URL" }).superRefine(checkUrl).default("https://slack.com/api/"),
    allow: z.strictObject(
      {
        users: ids("people"),
        channels: ids("channels"),
        dms: z.boolean({ error: "must be true or false" }),
      },
      { error: ({ code }) => (code === "invalid_type" ? howToAllow : undefined) },
    ),
    answerIn: z
      .enum(["thread", "conversation"], { error: "must be thread or conversation" })
      .default("thread"),
    listen: z.enum(["mentions", "all"], { error: "must be mentions or all" }).default("mentions"),
    preview: z.boolean({ error: "must be true or false" }).default(true),
    // Slack cuts a text at 40,000, and an "&" is five of them.
    maxText: whole(10, 8_000).default(3_500),
    maxFileBytes: whole(0, 20 * 1_048_576).default(1_048_576),
    timeoutMs: whole(1, 600_000).default(15_000),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must be an object" : undefined) },
);

function checkUrl(text: string, context: z.RefinementCtx): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const rule =
    url === null || !["http:", "https:"].includes(url.protocol)
      ? "must be a URL that begins with https:// or http://"
      : url.username !== "" || url.password !== ""
        ? "must not hold a user name or password"
        : null;
  if (rule !== null) context.addIssue({ code: "custom", message: rule });
}

function checkAccount(account: string, context: z.RefinementCtx): void {
  try {
    formatAddress({ channel: "slack", account, conversation: "any", thread: null });
  } catch (thrown) {
    context.addIssue({ code: "custom", message: `cannot be used: ${asWaybillError(thrown).message}` });
  }
}

/**
 * The settings with their defaults.
 * @throws WaybillError `config_invalid`; `details.field` is the first field at fault, as `slack.allow.users`
 */
export function readSlackOptions(options: SlackOptions): SlackSettings {
  const read = shape.safeParse(options);
  if (!read.success) throw invalid(read.error.issues.flatMap(toIssues));
  const { signingSecret, appToken, ...rest } = read.data;
  if (signingSecret === undefined && appToken === undefined) {
    const rule =
      "is needed for events over HTTP (Basic Information, Signing Secret); or give slack.appToken for Socket Mode";
    throw invalid([{ field: "slack.signingSecret", rule }]);
  }
  return { ...rest, signingSecret: signingSecret ?? null, appToken: appToken ?? null };
}

function invalid(issues: { field: string; rule: string }[]): WaybillError {
  const said = issues.map(({ field, rule }) => `${field} ${rule}.`).join(" ");
  return new WaybillError("config_invalid", said, { field: issues[0]?.field, issues });
}

/** What is known where, for the nearest name. */
const known: Readonly<Record<string, readonly string[]>> = {
  slack: Object.keys(shape.shape),
  "slack.allow": ["users", "channels", "dms"],
};

function toIssues(issue: z.core.$ZodIssue): { field: string; rule: string }[] {
  const field = ["slack", ...issue.path.map(String)].join(".");
  if (issue.code !== "unrecognized_keys") return [{ field, rule: issue.message }];
  return issue.keys.map((key) => {
    const names = known[field] ?? [];
    const nearest = closest(key, [...names]);
    const isNear = distance(key, nearest) <= Math.max(2, Math.floor(key.length / 3));
    const help = isNear ? `did you mean "${nearest}"?` : `there is ${names.join(", ")}`;
    return { field: `${field}.${key}`, rule: `is not known: ${help}` };
  });
}
