import type { Command } from "commander";

/** The flags of every command that runs a gateway or looks at its store; each has a variable of the same name. */
export function addServerFlags(command: Command): Command {
  return addStoreFlags(command)
    .option("--port <number>", "port to listen on, 0 for any free one (WAYBILL_PORT, 8787)")
    .option("--host <name>", "host to listen on (WAYBILL_HOST, 127.0.0.1)")
    .option("--key <key>", "cluster key, base64url (WAYBILL_KEY)")
    .option("--model <provider/model>", "model that answers without a settings file (WAYBILL_MODEL)")
    .option("--model-url <url>", "an OpenAI-compatible server of that model (WAYBILL_MODEL_URL)")
    .option("--hosts <names>", "further host names that requests may carry (WAYBILL_HOSTS)")
    .option("--origins <urls>", "origins of web pages that may call (WAYBILL_ORIGINS)")
    .option("--grace <ms>", "time that runs have to end when it stops (WAYBILL_GRACE, 10000)")
    .option("--log <level>", "debug, info, warn, error or silent (WAYBILL_LOG, info)");
}

/** Where the store and the settings are, and the operator's token. */
export function addStoreFlags(command: Command): Command {
  return command
    .option("--config <file>", "settings file (WAYBILL_CONFIG, ./waybill.config.ts)")
    .option("--data <folder>", "folder of the store and the key (WAYBILL_DATA, ./.waybill)")
    .option("--database-url <url>", "postgres://... or file:... (WAYBILL_DATABASE_URL)")
    .option("--redis-url <url>", "Redis for several nodes (WAYBILL_REDIS_URL)")
    .option("--token <token>", "the operator's token (WAYBILL_TOKEN)")
    .option("--json", "machine-readable output");
}
