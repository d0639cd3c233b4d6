import { builtinConfig } from "../gateway/builtin-config.ts";
import type { ServerSettings } from "../gateway/environment.ts";
import { findConfig, loadConfig } from "../gateway/load-config.ts";
import type { WaybillConfig } from "../gateway/settings.ts";

/** The settings that a gateway here runs with: those of the settings file, else the built-in agents. */
export async function settingsOf(settings: ServerSettings): Promise<WaybillConfig> {
  const file = findConfig(settings.configFile, process.cwd());
  if (file === null) return builtinConfig(settings, process.env);
  return (await loadConfig(file, process.cwd())).config;
}
