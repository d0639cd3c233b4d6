import type { Command } from "commander";
import type { DoctorFlags } from "../doctor/doctor.ts";
import { addServerFlags } from "../server-flags.ts";

export function addDoctor(program: Command): void {
  addServerFlags(program.command("doctor"))
    .description("look for what would keep a gateway from working here, and say what to do")
    .addHelpText(
      "after",
      `
Examples:
  waybill doctor
  waybill doctor --host 0.0.0.0 --json

It takes the flags and variables of start. Exit code 1: something would fail.`,
    )
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import("../doctor/doctor.ts");
      await doctor(flags);
    });
}
