import { WaybillError } from "../../kernel/errors.ts";
import type { Channel, ChannelFactory, ChannelPorts } from "../channel.ts";
import { allowsAddress, authorize } from "./allow.ts";
import { markdownPost } from "./blocks.ts";
import { check } from "./check.ts";
import { pause } from "../../kernel/pause.ts";
import { receive } from "./receive.ts";
import { reconcile } from "./reconcile.ts";
import { send } from "./send.ts";
import { readSlackOptions, type SlackOptions, type SlackSettings } from "./slack-settings.ts";
import { SlackSocket } from "./socket.ts";
import { splitMarkdown } from "../../texts/split-markdown.ts";
import { Workspace } from "./workspace.ts";

/**
 * A workspace of Slack, as the bot of an app of its own. docs/slack.md says how to make one.
 *
 *   slack({ account: "T…", botToken, signingSecret, allow: { users: "*", channels: ["C…"], dms: true } })
 *
 * @throws WaybillError `config_invalid`
 */
export function slack(options: SlackOptions): ChannelFactory {
  const settings = readSlackOptions(options);
  return { kind: "slack", account: settings.account, connect: (ports) => connect(settings, ports) };
}

function connect(settings: SlackSettings, ports: ChannelPorts): Channel {
  const workspace = new Workspace(settings, ports);
  const { account, signingSecret, appToken } = settings;
  const socket = appToken === null ? null : new SlackSocket(workspace, appToken);
  const stopped = new AbortController();
  return {
    kind: "slack",
    account,
    authorize: (incoming) => authorize(settings, incoming),
    ...(signingSecret === null
      ? {}
      : { handle: (request: Request) => receive(workspace, signingSecret, request) }),
    sender: {
      channel: "slack",
      inTransaction: false,
      can: { edit: true, delete: true, preview: settings.preview },
      allows: (address, kind) => allowsAddress(settings, address, kind),
      split: (text) => splitMarkdown(text, settings.maxText),
      send: (op) => send(workspace, markdownPost, op),
      reconcile: (op) => reconcile(workspace, op),
    },
    async start() {
      await meet(workspace, stopped.signal);
      if (!stopped.signal.aborted) await socket?.start();
    },
    check: (signal) => check(workspace, signal),
    async stop() {
      stopped.abort();
      await socket?.stop();
    },
  };
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/**
 * Learns who we are; asks again while Slack cannot be reached.
 * @throws WaybillError `config_invalid` for a token that is of no use
 */
async function meet(workspace: Workspace, stopped: AbortSignal): Promise<void> {
  const { ports } = workspace;
  for (let pauseMs = firstPauseMs; !stopped.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      await workspace.self();
      return;
    } catch (thrown) {
      if (!(thrown instanceof WaybillError) || thrown.code !== "platform_unavailable") throw thrown;
      ports.report({ kind: "connecting", reason: thrown.message });
      await pause(ports.clock, pauseMs, stopped);
    }
  }
}
