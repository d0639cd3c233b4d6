import type { Command } from "commander";
import type { Page, WireSchedule } from "../../http/api.ts";
import { addClientFlags, pathId, queryOf, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { renderFields, renderTable } from "../table.ts";
import { age, columns, paint, print, printJson } from "../terminal.ts";

interface ListFlags extends ClientFlags {
  state?: string;
  limit?: string;
  next?: string;
}

interface AddFlags extends ClientFlags {
  id?: string;
  cron?: string;
  timeZone?: string;
  at?: string;
  to?: string;
  account?: string;
  agent?: string;
}

export function addSchedules(program: Command): void {
  const schedules = program.command("schedules").description("what comes by the clock");
  addList(schedules);
  addAdd(schedules);
  addClientFlags(schedules.command("show"))
    .argument("<schedule>")
    .description("one schedule: its times, where it goes, and why it would be held")
    .addHelpText("after", "\nExample:\n  waybill schedules show stand-up")
    .action(async (id: string, flags: ClientFlags) => {
      const path = `/v1/schedules/${pathId(id)}`;
      show(await withClient(flags, (client) => client.get<WireSchedule>(path)), flags);
    });
  for (const [name, state, what] of [
    ["enable", "active", "let it come again, from its next time on"],
    ["disable", "disabled", "let it not come until it is enabled"],
  ] as const) {
    addClientFlags(schedules.command(name))
      .argument("<schedule>")
      .description(what)
      .addHelpText("after", `\nExample:\n  waybill schedules ${name} stand-up`)
      .action((id: string, flags: ClientFlags) => change(id, { state }, flags));
  }
  addClientFlags(schedules.command("to"))
    .argument("<schedule>")
    .argument("<address>")
    .description("give it another destination; what it holds goes there")
    .option("--account <account>", "with last-active or latest-seen: whose, such as slack:T1")
    .addHelpText("after", "\nExample:\n  waybill schedules to stand-up web:main/team")
    .action((id: string, to: string, flags: ClientFlags & { account?: string }) =>
      change(id, { to, ...(flags.account === undefined ? {} : { account: flags.account }) }, flags),
    );
  addClientFlags(schedules.command("fire"))
    .argument("<schedule>")
    .description("fire an active one now; its times by cron stay")
    .addHelpText("after", "\nExample:\n  waybill schedules fire stand-up")
    .action(async (id: string, flags: ClientFlags) => {
      const path = `/v1/schedules/${pathId(id)}/fire`;
      show(await withClient(flags, (client) => client.post<WireSchedule>(path, {})), flags);
    });
  addClientFlags(schedules.command("remove"))
    .argument("<schedule>")
    .description("remove one that does not stand in the settings")
    .addHelpText("after", "\nExample:\n  waybill schedules remove stand-up")
    .action(async (id: string, flags: ClientFlags) => {
      const path = `/v1/schedules/${pathId(id)}`;
      const answer = await withClient(flags, (client) => client.delete<{ schedule: string }>(path));
      if (flags.json) printJson(answer);
      else print([`${answer.schedule} is removed.`]);
    });
}

function addList(schedules: Command): void {
  addClientFlags(schedules.command("list"))
    .description("schedules, the newest first, with their next and last times")
    .option("--state <states>", "only these, with commas: active,disabled,done,removed")
    .option("--limit <number>", "at most so many, 1 to 1000", "20")
    .option("--next <place>", "the page after this one (its --json has it)")
    .addHelpText("after", "\nExample:\n  waybill schedules list --state active")
    .action(async (flags: ListFlags) => {
      const query = queryOf({ state: flags.state, limit: flags.limit, next: flags.next });
      const page = await withClient(flags, (client) =>
        client.get<Page<WireSchedule>>(`/v1/schedules${query}`),
      );
      if (flags.json) printJson(page);
      else print(tableOf(page));
    });
}

function addAdd(schedules: Command): void {
  addClientFlags(schedules.command("add"))
    .argument("<text>")
    .description("have something said, or an agent asked, by the clock")
    .option("--id <id>", "a name of your choice")
    .option("--cron <pattern>", 'such as "0 9 * * 1-5"')
    .option("--time-zone <zone>", "whose clocks the pattern means, such as Europe/Berlin (UTC)")
    .option("--at <time>", "for once, such as 2026-01-31T09:30:00Z")
    .option("--to <address>", "where it goes: an address, last-active or latest-seen")
    .option("--account <account>", "with last-active or latest-seen: whose, such as slack:T1")
    .option("--agent <agent>", "the agent that is asked the text; without it the text is posted")
    .addHelpText(
      "after",
      `
Example:
  waybill schedules add "Stand-up!" --cron "55 8 * * 1-5" --time-zone Asia/Seoul --to web:main/team`,
    )
    .action(async (text: string, flags: AddFlags) => {
      const { id, cron, timeZone, at, to, account, agent } = flags;
      const body = { id, cron, timeZone, at, to, account, agent, text };
      show(await withClient(flags, (client) => client.post<WireSchedule>("/v1/schedules", body)), flags);
    });
}

async function change(id: string, body: Record<string, string>, flags: ClientFlags): Promise<void> {
  const path = `/v1/schedules/${pathId(id)}`;
  show(await withClient(flags, (client) => client.patch<WireSchedule>(path, body)), flags);
}

function show(schedule: WireSchedule, flags: ClientFlags): void {
  if (flags.json) return printJson(schedule);
  const { account, agent, incomplete } = schedule;
  print(
    renderFields(
      [
        ["schedule", schedule.id],
        ["state", schedule.state],
        ["made by", schedule.askedBy ?? schedule.source],
        ["comes", timesOf(schedule)],
        ["next", schedule.nextAt],
        ["last", schedule.lastAt],
        ["led to", schedule.lastRun ?? schedule.lastDelivery],
        ["goes to", `${schedule.to ?? "nowhere yet"}${account === null ? "" : ` of ${account}`}`],
        ["held", incomplete],
        [agent === null ? "says" : `asks ${agent}`, schedule.text],
      ],
      columns(),
    ),
  );
}

function timesOf({ cron, timeZone }: WireSchedule): string {
  return cron === null ? "once" : `${cron} (${timeZone})`;
}

function tableOf({ items, next }: Page<WireSchedule>): string[] {
  if (items.length === 0) return ["No schedules."];
  const [title = "", ...rows] = renderTable(
    items,
    [
      { title: "SCHEDULE", text: (one) => one.id },
      { title: "STATE", text: (one) => (one.incomplete === null ? one.state : `${one.state}, held`) },
      { title: "NEXT", text: (one) => one.nextAt?.replace(".000Z", "Z") ?? "-" },
      { title: "LAST", text: (one) => age(one.lastAt) },
      { title: "TO", text: (one) => one.to ?? "-", cut: true },
    ],
    columns(),
  );
  return [paint("bold", title), ...rows, ...(next === null ? [] : [paint("grey", `more: --next ${next}`)])];
}
