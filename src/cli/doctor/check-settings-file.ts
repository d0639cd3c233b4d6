import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtinConfig, missingModelKeys } from "../../gateway/builtin-config.ts";
import type { ServerSettings } from "../../gateway/environment.ts";
import { findConfig } from "../../gateway/load-config.ts";
import { asWaybillError, type WaybillError } from "../../kernel/errors.ts";
import { loadReport, type ConfigReport } from "../report-config.ts";
import { checkChannels } from "./check-channels.ts";
import { fail, ok, warn, type Finding } from "./check.ts";

/** The settings file with its agents, their models and its channels; without one, what answers instead. */
export async function checkSettingsFile(settings: ServerSettings): Promise<Finding[]> {
  try {
    if (findConfig(settings.configFile, process.cwd()) === null) return await checkBuiltin(settings);
    const { config, report } = await loadReport(settings);
    return [
      ok("settings", `${report.file}: ${report.agents.map(({ name }) => name).join(", ")}`),
      ...report.warnings.map((warning) =>
        warn("settings", warning, "Change the setting, or tell the supervisor."),
      ),
      ...checkUnusedModel(settings, report),
      ...(await checkModels(report)),
      ...(await checkChannels(config)),
    ];
  } catch (thrown) {
    return [refused("settings", asWaybillError(thrown))];
  }
}

function refused(check: string, error: WaybillError): Finding {
  return fail(check, error.message, `Correct it, then run: waybill config check (${error.code})`);
}

async function checkBuiltin(settings: ServerSettings): Promise<Finding[]> {
  const none = ok("settings", "no settings file: built-in agents answer");
  if (settings.model === undefined) {
    return [none, ok("model", "none: the built-in guide answers and needs no key")];
  }
  try {
    await builtinConfig(settings, process.env);
    return [
      none,
      ok("model", `${settings.model}${settings.modelUrl === undefined ? "" : ` at ${settings.modelUrl}`}`),
    ];
  } catch (thrown) {
    return [none, refused("model", asWaybillError(thrown))];
  }
}

function checkUnusedModel({ model }: ServerSettings, { file }: ConfigReport): Finding[] {
  if (model === undefined || readFileSync(file, "utf8").includes("WAYBILL_MODEL")) return [];
  return [
    warn(
      "model",
      "WAYBILL_MODEL is set and not used",
      "The settings file says which agents there are; use it there.",
    ),
  ];
}

/** Models by name whose key is not in its usual variable; the settings may give it in another way. */
async function checkModels({ agents }: ConfigReport): Promise<Finding[]> {
  const models = [...new Set(agents.flatMap((agent) => agent.models))];
  const missing = await missingModelKeys(models, process.env);
  return models.map((model) => {
    const key = missing.get(model);
    if (key === undefined) return ok("model", model);
    return warn(
      "model",
      `${model}: ${key} is not set`,
      `Set ${key}, unless the settings give the key themselves.`,
    );
  });
}

/** `.env` holds secrets: git should not take it. */
export function checkDotEnv(cwd: string): Finding[] {
  if (!existsSync(join(cwd, ".env")) || !existsSync(join(cwd, ".git"))) return [];
  const ignore = join(cwd, ".gitignore");
  const lines = existsSync(ignore) ? readFileSync(ignore, "utf8").split(/\r?\n/) : [];
  if (lines.some((line) => /^\/?(\*\*\/)?\.env\*?$/.test(line.trim()))) return [];
  return [warn(".env", "git does not ignore .env", "Add the line .env to .gitignore.")];
}
