import { Command } from "commander";
import { version } from "../gateway/version.ts";
import { addStart } from "./commands/start.ts";

/** The whole tool: one file for each command in commands/. */
export function buildProgram(): Command {
  const program = new Command("waybill")
    .description("An agent gateway: it puts AI agents where people talk.")
    .version(version, "-v, --version")
    .showHelpAfterError("(waybill --help lists the commands)")
    .exitOverride();
  addStart(program);
  return program;
}
