import { WaybillError } from "../../kernel/errors.ts";
import type { ChannelFinding } from "../channel.ts";
import { appScope, botScopes } from "./manifest.ts";
import { failureOf, isDeadToken, slackApi } from "./slack-api.ts";
import type { Workspace } from "./workspace.ts";

/** Channels of `allow.channels` that are looked at. */
const mostChannels = 20;

/**
 * Asks Slack whether the tokens are good, have the scopes that are needed, and whether the bot is in its channels. It
 * reads only, and opens no connection.
 */
export async function check(workspace: Workspace, signal: AbortSignal): Promise<ChannelFinding[]> {
  const bot = await checkBot(workspace);
  if (!bot.every(({ ok }) => ok) && bot.length === 1) return [...bot, ...(await checkApp(workspace))];
  return [...bot, ...(await checkApp(workspace)), ...(await checkChannels(workspace, signal))];
}

async function checkBot(workspace: Workspace): Promise<ChannelFinding[]> {
  try {
    // It compares the workspace, too.
    await workspace.self();
    const said = await workspace.api.auth.test();
    const who: ChannelFinding = {
      ok: true,
      text: `the bot is ${said.user ?? "?"} in ${said.team ?? workspace.settings.account}`,
    };
    return [who, ofScopes(said.response_metadata?.scopes)];
  } catch (thrown) {
    const isOurs = thrown instanceof WaybillError;
    const text = isOurs ? thrown.message : failureOf(thrown).reason;
    const isAway = !isOurs || thrown.code === "platform_unavailable";
    return [
      {
        ok: false,
        text,
        fix: isAway
          ? "Try again; look at the network and at slack.apiUrl."
          : "Correct the setting that is named.",
      },
    ];
  }
}

/** @param granted as the header `x-oauth-scopes` says */
function ofScopes(granted: readonly string[] | undefined): ChannelFinding {
  if (granted === undefined) return { ok: true, text: "Slack did not say which scopes the token has" };
  const lacking = Object.entries(botScopes).filter(([scope]) => !granted.includes(scope));
  if (lacking.length === 0) return { ok: true, text: "the bot's token has all scopes that are needed" };
  const named = lacking.map(([scope, what]) => `${scope} (${what})`).join(", ");
  return {
    ok: false,
    text: `the bot's token lacks ${named}`,
    fix: `Add ${lacking.map(([scope]) => scope).join(", ")} under OAuth & Permissions of the app, and install it again.`,
  };
}

async function checkApp({ settings, ports }: Workspace): Promise<ChannelFinding[]> {
  if (settings.appToken === null) return [];
  const fix = `Make an app-level token with the scope ${appScope} on the app's page "Basic Information".`;
  try {
    // Not apps.connections.open: that one asks for a connection.
    const said = await slackApi(settings, ports.clock, settings.appToken).auth.test();
    const scopes = said.response_metadata?.scopes;
    if (scopes === undefined || scopes.includes(appScope))
      return [{ ok: true, text: "slack.appToken is good" }];
    return [{ ok: false, text: `slack.appToken lacks ${appScope}`, fix }];
  } catch (thrown) {
    const failure = failureOf(thrown);
    if (isDeadToken(failure)) {
      const error = failure.kind === "refusal" ? failure.error : "";
      return [{ ok: false, text: `slack.appToken is of no use: Slack answered ${error}`, fix }];
    }
    return [{ ok: true, text: `slack.appToken could not be checked: ${failure.reason}` }];
  }
}

async function checkChannels({ settings, api }: Workspace, signal: AbortSignal): Promise<ChannelFinding[]> {
  const { channels } = settings.allow;
  if (channels === "*") return [];
  const findings: ChannelFinding[] = [];
  for (const channel of channels.slice(0, mostChannels)) {
    if (signal.aborted) break;
    try {
      const { channel: said } = await api.conversations.info({ channel });
      if (said?.is_member === false) findings.push(outside(channel, said.name));
      else if (said?.is_archived) {
        findings.push({
          ok: false,
          text: `${channel} is archived`,
          fix: "Take it out of slack.allow.channels.",
        });
      }
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.kind !== "refusal" || failure.error === "missing_scope") continue;
      findings.push(outside(channel));
    }
  }
  if (findings.length > 0 || channels.length === 0) return findings;
  const which = channels.length > mostChannels ? `the first ${mostChannels}` : "each";
  return [{ ok: true, text: `the bot is in ${which} of slack.allow.channels` }];
}

function outside(channel: string, name?: string): ChannelFinding {
  const shown = name === undefined ? channel : `${channel} (#${name})`;
  return {
    ok: false,
    text: `the bot is not in ${shown}, or there is no such channel`,
    fix: `Invite it there with /invite, or take ${channel} out of slack.allow.channels.`,
  };
}
