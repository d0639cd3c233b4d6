import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WaybillError } from "../kernel/errors.ts";

/**
 * The key of this installation: signs echoes now, derives seals later. From `WAYBILL_KEY`, else from the data folder,
 * where the first start makes it, readable by its user only.
 * @throws WaybillError `config_invalid` for a key that is too short, `data_folder_unusable`
 */
export function clusterKey(given: string | undefined, dataDir: string | null): Uint8Array {
  if (given !== undefined) return decode(given, "WAYBILL_KEY");
  if (dataDir === null) return randomBytes(32);
  const file = join(dataDir, "key");
  if (existsSync(file)) return decode(readFileSync(file, "utf8").trim(), file);
  const key = randomBytes(32);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${key.toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(file, 0o600);
  } catch (cause) {
    // Another process made it in the same moment: both must use one.
    if (existsSync(file)) return decode(readFileSync(file, "utf8").trim(), file);
    throw new WaybillError(
      "data_folder_unusable",
      `The key cannot be written to ${dataDir} (${(cause as Error).message}). Make the folder writable, or choose another with --data.`,
      {},
      cause,
    );
  }
  return key;
}

function decode(text: string, where: string): Uint8Array {
  const key = Buffer.from(text, "base64url");
  if (key.length >= 32) return key;
  throw new WaybillError(
    "config_invalid",
    `${where}: the key must be at least 32 bytes as base64url. Make one with: openssl rand -base64 32 | tr '+/' '-_'`,
    { field: where },
  );
}
