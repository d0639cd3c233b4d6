import type { Command } from "commander";
import { prepare } from "../prepare.ts";
import type { ConfigReport } from "../report-config.ts";
import { addStoreFlags } from "../server-flags.ts";
import { paint, print, printJson } from "../terminal.ts";

interface Flags {
  config?: string;
  json?: boolean;
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
  const { reportConfig } = await import("../report-config.ts");
  const report = await reportConfig(prepare(flags));
  if (flags.json) printJson(report);
  else print(lines(report));
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
