import { Command } from "commander";
import { version } from "../gateway/version.ts";
import { addChat } from "./commands/chat.ts";
import { addConfig } from "./commands/config-check.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDenials } from "./commands/denials.ts";
import { addDev } from "./commands/dev.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addInit } from "./commands/init.ts";
import { addRuns } from "./commands/runs.ts";
import { addSchedules } from "./commands/schedules.ts";
import { addSend } from "./commands/send.ts";
import { addSlack } from "./commands/slack.ts";
import { addSlots } from "./commands/slots.ts";
import { addStart } from "./commands/start.ts";
import { addWhy } from "./commands/why.ts";

/** The whole tool: one file for each command in commands/. */
export function buildProgram(): Command {
  const program = new Command("waybill")
    .description("An agent gateway: it puts AI agents where people talk.")
    .version(version, "-v, --version")
    // What is wrong is said in one place, main.ts, so that --json holds for it too.
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  addStart(program);
  addDev(program);
  addInit(program);
  addChat(program);
  addDoctor(program);
  addConfig(program);
  addRuns(program);
  addDeliveries(program);
  addDenials(program);
  addSchedules(program);
  addSlots(program);
  addSlack(program);
  addSend(program);
  addWhy(program);
  return program;
}
