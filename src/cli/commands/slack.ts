import type { Command } from "commander";
import type { ManifestOptions } from "../../gateway/slack-manifest.ts";
import { print, printJson } from "../terminal.ts";

interface Flags extends ManifestOptions {
  json?: boolean;
}

export function addSlack(program: Command): void {
  const slack = program.command("slack").description("the app in Slack");
  slack
    .command("manifest")
    .description("print the manifest of a Slack app with all that the channel needs")
    .option("--url <https address>", "the gateway's public address, for events over HTTP (else Socket Mode)")
    .option("--name <name>", "the app's and the bot's name", "Waybill")
    .option("--json", "the manifest alone")
    .addHelpText(
      "after",
      `
Examples:
  waybill slack manifest
  waybill slack manifest --url https://waybill.example.com --name Ada
  waybill slack manifest --json > manifest.json

Paste it at https://api.slack.com/apps: Create New App, From a manifest. Nothing is sent from here.`,
    )
    .action((flags: Flags) => manifest(flags));
}

async function manifest({ json, ...options }: Flags): Promise<void> {
  const { slackManifest } = await import("../../gateway/slack-manifest.ts");
  const made = slackManifest(options);
  if (json) printJson(made);
  else print([JSON.stringify(made, null, 2), "", ...steps(options.url !== undefined)]);
}

function steps(overHttp: boolean): string[] {
  const secret = overHttp
    ? "signingSecret: Basic Information, Signing Secret"
    : "appToken: Basic Information, App-Level Tokens, with the scope connections:write";
  return [
    "1. Paste it at https://api.slack.com/apps: Create New App, From a manifest.",
    "2. Install the app into the workspace.",
    "3. Copy into the settings file:",
    "   account: the T... in https://app.slack.com/client/T...",
    "   botToken: OAuth & Permissions, Bot User OAuth Token",
    `   ${secret}`,
    "4. Run: waybill doctor",
  ];
}
