import { WaybillError } from "../../kernel/errors.ts";

/** The message shortcut "Why here?". */
export const whyShortcut = "waybill_why";

/** What the bot's token is asked for, and what for; `waybill doctor` compares it with what was granted. */
export const botScopes: Readonly<Record<string, string>> = {
  "app_mentions:read": "to hear its name in channels",
  "channels:history": "to hear messages in public channels, and to see whether a post or thread is there",
  "groups:history": "the same in private channels",
  "im:history": "the same in direct messages",
  "mpim:history": "the same in group messages",
  "channels:read": "to know the kind and name of public channels",
  "groups:read": "the same of private channels",
  "im:read": "the same of direct messages",
  "mpim:read": "the same of group messages",
  "chat:write": "to post, edit and delete its own posts",
  "users:read": "to know people's names",
  "files:read": "to read files that people send",
  commands: 'for the shortcut "Why here?"',
};

export const botEvents = [
  "app_mention",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
] as const;

/** The scope of an app-level token for Socket Mode. */
export const appScope = "connections:write";

export interface ManifestOptions {
  /** The app's and the bot's name. Default "Waybill". */
  name?: string;
  /** The gateway's public address, for events over HTTP; left out: Socket Mode. */
  url?: string;
}

/** Slack's limit for the name of an app (docs.slack.dev, "App manifest reference"). */
const longestName = 35;

/**
 * The manifest of a Slack app that has all that the channel needs.
 * @throws WaybillError `invalid_request` for a name that is too long, or an address that is not https
 */
export function slackManifest(options: ManifestOptions = {}): Record<string, unknown> {
  const name = (options.name ?? "Waybill").trim();
  if (name === "" || name.length > longestName) {
    throw new WaybillError("invalid_request", `The name must have 1 to ${longestName} characters.`, {
      field: "name",
    });
  }
  const base = options.url === undefined ? null : readBase(options.url);
  const at = (path: string) => (base === null ? {} : { request_url: `${base}/channels/slack/${path}` });
  return {
    display_information: { name, description: "Puts agents where people talk" },
    features: {
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      bot_user: { display_name: name, always_online: true },
      shortcuts: [
        {
          name: "Why here?",
          type: "message",
          callback_id: whyShortcut,
          description: "Why a post of this bot stands here",
        },
      ],
    },
    oauth_config: { scopes: { bot: Object.keys(botScopes) } },
    settings: {
      event_subscriptions: { ...at("events"), bot_events: [...botEvents] },
      interactivity: { is_enabled: true, ...at("interactive") },
      org_deploy_enabled: false,
      socket_mode_enabled: base === null,
      token_rotation_enabled: false,
    },
  };
}

function readBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === "https:" && url.search === "" && url.hash === "" && url.username === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new WaybillError(
    "invalid_request",
    "The address must begin with https:// and be that of the gateway alone, as https://waybill.example. Without one the app uses Socket Mode.",
    { field: "url" },
  );
}
