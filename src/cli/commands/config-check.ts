import type { Command } from "commander";
import { checkSettings } from "../../gateway/check-settings.ts";
import { gatewayOptions, type ServerSettings } from "../../gateway/environment.ts";
import { findConfig, loadConfig } from "../../gateway/load-config.ts";
import type { WaybillConfig } from "../../gateway/settings.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { prepare } from "../prepare.ts";
import { addStoreFlags } from "../server-flags.ts";
import { paint, print, printJson } from "../terminal.ts";

interface Flags {
  config?: string;
  json?: boolean;
}

/** What a settings file comes to. */
export interface ConfigReport {
  ok: true;
  file: string;
  /** The file and what it imports of the user's own. */
  files: readonly string[];
  agents: { name: string; kind: string; background: boolean; models: readonly string[] }[];
  channels: { kind: string; account: string }[];
  routes: number;
  warnings: string[];
}

export function addConfig(program: Command): void {
  const config = program.command("config").description("the settings file");
  addStoreFlags(config.command("check"))
    .description("load the settings file and say what is wrong with it, without starting anything")
    .addHelpText(
      "after",
      `
Examples:
  waybill config check
  waybill config check --config ops/waybill.config.ts --json

Exit code 0: it can be used. 5: it cannot, and what is wrong is named.`,
    )
    .action((flags: Flags) => check(flags));
}

async function check(flags: Flags): Promise<void> {
  const report = await reportConfig(prepare(flags));
  if (flags.json) printJson(report);
  else print(lines(report));
}

/**
 * Loads and checks the settings file.
 * @throws WaybillError `config_not_found` (also if there is none), `config_syntax`, `config_invalid`, `missing_package`
 */
export async function reportConfig(settings: ServerSettings): Promise<ConfigReport> {
  const found = findConfig(settings.configFile, process.cwd());
  if (found === null) {
    throw new WaybillError(
      "config_not_found",
      "There is no settings file in this folder. Make one with: waybill init (without one, a built-in guide answers).",
    );
  }
  const { config, file, files } = await loadConfig(found, process.cwd());
  const warnings = checkSettings(config, { ...gatewayOptions(settings), loopback: true });
  return { ok: true, file, files, warnings, ...summaryOf(config) };
}

function summaryOf(config: WaybillConfig): Pick<ConfigReport, "agents" | "channels" | "routes"> {
  return {
    agents: Object.entries(config.agents).map(([name, { kind, background, models }]) => ({
      name,
      kind,
      background,
      models,
    })),
    channels: [
      { kind: "web", account: "main" },
      ...(config.channels ?? []).map(({ kind, account }) => ({ kind, account })),
    ],
    routes: config.routes?.length ?? 0,
  };
}

function lines(report: ConfigReport): string[] {
  const agents = report.agents.map(
    ({ name, kind, background }) => `${name} (${kind}${background ? ", background" : ""})`,
  );
  return [
    `${paint("green", "ok")}  ${report.file}`,
    `    agents: ${agents.join(", ")}`,
    `    channels: ${report.channels.map(({ kind, account }) => `${kind}:${account}`).join(", ")}`,
    ...(report.routes > 0 ? [`    routes: ${report.routes}`] : []),
    ...report.warnings.map((warning) => `${paint("yellow", "warn")}  ${warning}`),
  ];
}
