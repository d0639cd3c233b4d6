import type { Command } from "commander";
import { loadDotEnv, readEnvironment, type ServerFlags } from "../../gateway/environment.ts";
import { Supervisor } from "../dev/supervisor.ts";
import { addServerFlags } from "../server-flags.ts";

interface Flags extends ServerFlags {
  json?: boolean;
}

export function addDev(program: Command): void {
  addServerFlags(program.command("dev"))
    .description("start the gateway and start it anew whenever the settings are saved")
    .addHelpText(
      "after",
      `
Examples:
  waybill dev
  waybill dev --port 9000 --log debug

The settings file, what it imports and .env are watched. Settings that cannot be used are shown with
their line, and the gateway goes on with those before. The port stays the same.`,
    )
    .action((flags: Flags) => dev(flags));
}

async function dev(flags: Flags): Promise<void> {
  const cwd = process.cwd();
  const settings = () => {
    // .env goes into a copy: the child reads it itself, and what it holds may change.
    const env = { ...process.env };
    loadDotEnv(cwd, env);
    return readEnvironment(env, flags, cwd);
  };
  settings();
  const supervisor = new Supervisor({ cwd, json: flags.json === true, settings, args: argsOf(flags) });
  process.on("SIGINT", () => void supervisor.stop());
  process.on("SIGTERM", () => void supervisor.stop());
  process.exit(await supervisor.run());
}

/** The flags as arguments: `databaseUrl` is `--database-url`. */
function argsOf(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [flag] : [`${flag}=${value}`];
  });
}
