import { checkSettings } from "../gateway/check-settings.ts";
import { gatewayOptions, type ServerSettings } from "../gateway/environment.ts";
import { findConfig, loadConfig } from "../gateway/load-config.ts";
import type { WaybillConfig } from "../gateway/settings.ts";
import { WaybillError } from "../kernel/errors.ts";

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

/** @throws WaybillError as `loadReport` */
export async function reportConfig(settings: ServerSettings): Promise<ConfigReport> {
  return (await loadReport(settings)).report;
}

/**
 * Loads and checks the settings file.
 * @throws WaybillError `config_not_found` (also if there is none), `config_syntax`, `config_invalid`, `missing_package`
 */
export async function loadReport(
  settings: ServerSettings,
): Promise<{ config: WaybillConfig; report: ConfigReport }> {
  const found = findConfig(settings.configFile, process.cwd());
  if (found === null) {
    throw new WaybillError(
      "config_not_found",
      "There is no settings file in this folder. Make one with: waybill init (without one, a built-in guide answers).",
    );
  }
  const { config, file, files } = await loadConfig(found, process.cwd());
  const warnings = checkSettings(config, { ...gatewayOptions(settings), loopback: true });
  return { config, report: { ok: true, file, files, warnings, ...summaryOf(config) } };
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
