import type { WebClient } from "@slack/web-api";
import { WaybillError } from "../../kernel/errors.ts";
import type { ChannelPorts } from "../channel.ts";
import { Directory } from "./directory.ts";
import { Files } from "./files.ts";
import type { Self } from "./read-event.ts";
import { failureOf, isDeadToken, slackApi } from "./slack-api.ts";
import type { SlackSettings } from "./slack-settings.ts";
import { ThreadWatch } from "./thread-watch.ts";

/** One workspace, as all parts of its channel see it. */
export class Workspace {
  readonly settings: SlackSettings;
  readonly ports: ChannelPorts;
  readonly api: WebClient;
  readonly directory: Directory;
  readonly threads: ThreadWatch;
  readonly files: Files;
  #self: Promise<Self> | null = null;
  #off = false;

  constructor(settings: SlackSettings, ports: ChannelPorts) {
    this.settings = settings;
    this.ports = ports;
    this.api = slackApi(settings, ports.clock);
    this.directory = new Directory(this.api, ports.clock, ports.log);
    this.threads = new ThreadWatch(this.api, ports.clock);
    this.files = new Files(this);
  }

  /**
   * Who we are, asked once.
   * @throws WaybillError `config_invalid` for a token that is refused or of another workspace, `platform_unavailable`
   */
  self(): Promise<Self> {
    this.#self ??= this.#ask().catch((thrown: unknown) => {
      this.#self = null;
      throw thrown;
    });
    return this.#self;
  }

  async #ask(): Promise<Self> {
    let said;
    try {
      said = await this.api.auth.test();
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure.kind === "refusal") throw badToken(failure.reason);
      throw new WaybillError(
        "platform_unavailable",
        `Slack could not be asked who the bot is: ${failure.reason}.`,
      );
    }
    const { account } = this.settings;
    if (said.team_id !== account) throw otherWorkspace(account, said.team_id, said.team);
    if (!said.user_id) throw badToken("Slack did not name a user for it");
    return { userId: said.user_id, botId: said.bot_id ?? null };
  }

  /** Tells operators when the token stops working, and when it works again. */
  heard(thrown: unknown): void {
    const failure = thrown === null ? null : failureOf(thrown);
    if (failure === null || (failure.kind === "refusal" && !isDeadToken(failure))) {
      if (this.#off) this.ports.report({ kind: "on" });
      this.#off = false;
    } else if (isDeadToken(failure) && !this.#off) {
      this.#off = true;
      this.ports.log.error(
        { account: this.settings.account },
        `${failure.reason}; posts wait for a new token`,
      );
      this.ports.report({ kind: "off", reason: badToken(failure.reason).message });
    }
  }
}

function badToken(reason: string): WaybillError {
  return new WaybillError(
    "config_invalid",
    `slack.botToken is of no use: ${reason}. Copy the "Bot User OAuth Token" of the app's page "OAuth & Permissions".`,
    { field: "slack.botToken" },
  );
}

function otherWorkspace(account: string, team: string | undefined, name: string | undefined): WaybillError {
  return new WaybillError(
    "config_invalid",
    `slack.account is "${account}", and slack.botToken belongs to the workspace ${name ?? ""} with the id "${team ?? ""}". Set account to "${team ?? ""}", or use the token of the other workspace.`,
    { field: "slack.account", use: team },
  );
}
