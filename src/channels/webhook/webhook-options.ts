import { closest, distance } from "fastest-levenshtein";
import { z } from "zod";
import { formatAddress } from "../../address/address.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";

/** What `webhook({ ... })` takes. */
export interface WebhookOptions {
  /** Where the other program takes deliveries (signed POST) and is asked about them (signed GET). */
  url: string;
  /** What both sides sign with. */
  secret: string;
  /** Ids of the other program, or `"*"` for all. An empty list allows nobody. */
  allow: { senders: readonly string[] | "*"; conversations: readonly string[] | "*" };
  /** The account in addresses, `webhook:{account}/{conversation}`. Default `main`. */
  account?: string;
  /** How wide a conversation is of which a message does not say it. Default `unknown`, which counts as the widest. */
  kind?: "dm" | "group" | "channel";
  /** The id that our own posts have as a sender, so that they are not taken for messages. */
  self?: string;
  /** True: a post appears as soon as the work begins, and is edited into the answer. Default false. */
  preview?: boolean;
  /** Characters (UTF-16 code units) of one post; longer answers are split. Default 4,000. */
  maxText?: number;
  /** Milliseconds that the other program has to answer. Default 15,000. */
  timeoutMs?: number;
}

export type WebhookSettings = Required<Omit<WebhookOptions, "kind" | "self">> & {
  kind: "dm" | "group" | "channel" | "unknown";
  self: string | null;
};

const ids = (field: string) =>
  z.union([z.literal("*"), z.array(z.string().min(1))], {
    error: `must be a list of ${field} ids, or "*" for all`,
  });

const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.number({ error }).int({ error }).min(least, { error }).max(most, { error });
};

const shape = z.strictObject(
  {
    url: z.string({ error: "must be a URL that begins with https:// or http://" }).superRefine(checkUrl),
    secret: z.string({ error: "must be a text" }).min(1, { error: "must not be empty" }),
    allow: z.strictObject(
      { senders: ids("sender"), conversations: ids("conversation") },
      {
        error: ({ code }) =>
          code === "invalid_type"
            ? 'is needed: { senders: ["..."] or "*", conversations: ["..."] or "*" }. Nobody is let in by leaving it out'
            : undefined,
      },
    ),
    account: z.string({ error: "must be a text" }).superRefine(checkAccount).default("main"),
    kind: z.enum(["dm", "group", "channel"], { error: "must be dm, group or channel" }).optional(),
    self: z.string({ error: "must be a text" }).min(1, { error: "must not be empty" }).optional(),
    preview: z.boolean({ error: "must be true or false" }).default(false),
    maxText: whole(10, 1_000_000).default(4_000),
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
        ? "must not hold a user name or password; requests are signed with the secret"
        : null;
  if (rule !== null) context.addIssue({ code: "custom", message: rule });
}

function checkAccount(account: string, context: z.RefinementCtx): void {
  try {
    formatAddress({ channel: "webhook", account, conversation: "any", thread: null });
  } catch (thrown) {
    context.addIssue({ code: "custom", message: `cannot be used: ${asWaybillError(thrown).message}` });
  }
}

/**
 * The settings with their defaults.
 * @throws WaybillError `config_invalid`; `details.field` is the first field at fault, as `webhook.allow.senders`
 */
export function readWebhookOptions(options: WebhookOptions): WebhookSettings {
  const read = shape.safeParse(options);
  if (!read.success) {
    const issues = read.error.issues.flatMap(toIssues);
    const said = issues.map(({ field, rule }) => `${field} ${rule}.`).join(" ");
    throw new WaybillError("config_invalid", said, { field: issues[0]?.field, issues });
  }
  const { kind, self, ...rest } = read.data;
  return { ...rest, kind: kind ?? "unknown", self: self ?? null };
}

/** What is known where, for the nearest name. */
const known: Readonly<Record<string, readonly string[]>> = {
  webhook: Object.keys(shape.shape),
  "webhook.allow": ["senders", "conversations"],
};

function toIssues(issue: z.core.$ZodIssue): { field: string; rule: string }[] {
  const field = ["webhook", ...issue.path.map(String)].join(".");
  if (issue.code !== "unrecognized_keys") return [{ field, rule: issue.message }];
  return issue.keys.map((key) => {
    const names = known[field] ?? [];
    const nearest = closest(key, [...names]);
    const isNear = distance(key, nearest) <= Math.max(2, Math.floor(key.length / 3));
    const help = isNear ? `did you mean "${nearest}"?` : `there is ${names.join(", ")}`;
    return { field: `${field}.${key}`, rule: `is not known: ${help}` };
  });
}
