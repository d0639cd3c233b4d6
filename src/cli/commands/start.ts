import type { Command } from "commander";
import { addServerFlags } from "../server-flags.ts";
import type { StartFlags } from "../start-gateway.ts";

export function addStart(program: Command): void {
  addServerFlags(program.command("start"))
    .description("start the gateway here; without a settings file a built-in guide answers")
    .addHelpText(
      "after",
      `
Examples:
  waybill start                            the settings of this folder, on port 8787
  waybill start --port 0 --data /var/lib/waybill
  WAYBILL_MODEL=openai/gpt-5 waybill start  a model answers, no settings needed

SIGTERM or Ctrl-C stops it: runs may end within the grace, a second signal leaves at once.`,
    )
    .action(async (flags: StartFlags) => {
      // What a command needs is loaded when it runs, so that help and small commands are quick.
      const { startGateway } = await import("../start-gateway.ts");
      await startGateway(flags);
    });
}
