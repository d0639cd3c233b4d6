import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { WaybillError } from "../kernel/errors.ts";
import { configError } from "./config-error.ts";
import { watchLoading } from "./config-modules.ts";
import type { WaybillConfig } from "./settings.ts";

/** The names that are looked for in the working folder, in this order. */
export const configNames = [
  "waybill.config.ts",
  "waybill.config.mts",
  "waybill.config.js",
  "waybill.config.mjs",
] as const;

export interface LoadedConfig {
  config: WaybillConfig;
  /** The settings file. */
  file: string;
  /** It and every file of the user's that it imports, in the order of loading. */
  files: readonly string[];
}

/**
 * The settings file: the one that was named, else the first of `configNames` in the folder.
 * @returns null if none was named and there is none
 * @throws WaybillError `config_not_found` if it was named and is no file
 */
export function findConfig(named: string | undefined, cwd: string): string | null {
  const isFile = (file: string): boolean => existsSync(file) && statSync(file).isFile();
  if (named === undefined) return configNames.map((name) => join(cwd, name)).find(isFile) ?? null;
  if (isFile(named)) return named;
  throw new WaybillError(
    "config_not_found",
    `There is no settings file at ${named}. Check --config, or make one with: waybill init`,
    { file: named },
  );
}

/**
 * Loads a settings file. Its default export is taken as it is; `checkSettings` judges it.
 * @throws WaybillError `config_syntax` with file, line, column and the line's text; `missing_package`; `config_invalid`
 *   if it throws or has no default export
 */
export async function loadConfig(file: string, cwd: string): Promise<LoadedConfig> {
  const loading = watchLoading(file);
  try {
    const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
    if (module.default === undefined) {
      throw new WaybillError(
        "config_invalid",
        "the settings file has no default export. Write: export default defineConfig({ agents: { ... } });",
        { field: "default" },
      );
    }
    return { config: module.default as WaybillConfig, file, files: [...new Set(loading.files)] };
  } catch (thrown) {
    throw configError(thrown, file, loading.last, cwd);
  } finally {
    loading.stop();
  }
}
