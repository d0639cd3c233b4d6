import type { Command } from "commander";
import type { Page, WireAccepted, WireDelivery, WireRun, WireRunEvent } from "../../http/api.ts";
import { addClientFlags, pathId, queryOf, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { deliveryLines, eventLines, paintState, runLines } from "../show-run.ts";
import { renderTable } from "../table.ts";
import { age, columns, paint, print, printJson } from "../terminal.ts";
import { addRunsWatch } from "./runs-watch.ts";

interface ListFlags extends ClientFlags {
  state?: string;
  agent?: string;
  address?: string;
  limit?: string;
  next?: string;
}

export function addRuns(program: Command): void {
  const runs = program.command("runs").description("what runs, and what has ended");
  addList(runs);
  addShow(runs);
  addRunsWatch(runs);
  addCancel(runs);
  addRetry(runs);
}

function addList(runs: Command): void {
  addClientFlags(runs.command("list"))
    .description("runs, newest first")
    .option("--state <states>", "only these, with commas: running,queued,failed,...")
    .option("--agent <name>", "only runs of this agent")
    .option("--address <address>", "only runs of this place, such as web:main/general")
    .option("--limit <number>", "at most so many, 1 to 1000", "20")
    .option("--next <place>", "the page after this one (its --json has it)")
    .addHelpText(
      "after",
      `
Examples:
  waybill runs list
  waybill runs list --state running,queued
  waybill runs list --address web:main/general --json`,
    )
    .action((flags: ListFlags) => list(flags));
}

async function list(flags: ListFlags): Promise<void> {
  const { state, agent, address, limit, next } = flags;
  const query = queryOf({ state, agent, address, limit, next });
  const page = await withClient(flags, (client) => client.get<Page<WireRun>>(`/v1/runs${query}`));
  if (flags.json) printJson(page);
  else print(tableOf(page));
}

function tableOf({ items, next }: Page<WireRun>): string[] {
  if (items.length === 0) return ["No runs."];
  const [title = "", ...rows] = renderTable(
    items,
    [
      { title: "RUN", text: (run) => run.id },
      { title: "STATE", text: (run) => run.state },
      { title: "AGE", text: (run) => age(run.createdAt) },
      { title: "AGENT", text: (run) => run.agent, cut: true },
      { title: "ASKED IN", text: (run) => run.origin, cut: true },
    ],
    columns(),
  );
  const painted = rows.map((row, i) => {
    const run = items[i];
    return run ? row.replace(` ${run.state} `, ` ${paintState(run.state)} `) : row;
  });
  return [
    paint("bold", title),
    ...painted,
    ...(next === null ? [] : [paint("grey", `more: --next ${next}`)]),
  ];
}

function addShow(runs: Command): void {
  addClientFlags(runs.command("show"))
    .argument("<run>")
    .description("one run: where it was asked, what happened, where its answer went")
    .addHelpText("after", "\nExample:\n  waybill runs show run_01a22ea9-f268-755e-8d29-41b58b434642")
    .action((run: string, flags: ClientFlags) => show(run, flags));
}

async function show(id: string, flags: ClientFlags): Promise<void> {
  const found = await withClient(flags, async (client) => {
    const run = await client.get<WireRun>(`/v1/runs/${pathId(id)}`);
    const events = await client.get<Page<WireRunEvent>>(`/v1/runs/${pathId(id)}/events?limit=1000`);
    const deliveries = await client.get<Page<WireDelivery>>(`/v1/deliveries${queryOf({ run: id })}`);
    return { run, events: events.items, deliveries: deliveries.items };
  });
  if (flags.json) printJson({ ...found.run, events: found.events, deliveries: found.deliveries });
  else {
    print([
      ...runLines(found.run),
      "",
      paint("bold", "What happened"),
      ...eventLines(found.events),
      ...found.deliveries.flatMap((delivery) => ["", ...deliveryLines(delivery)]),
    ]);
  }
}

function addCancel(runs: Command): void {
  addClientFlags(runs.command("cancel"))
    .argument("<run...>")
    .description("ask runs to end; they stay cancelled, whatever they still bring")
    .addHelpText("after", "\nExample:\n  waybill runs cancel run_01a22ea9-f268-755e-8d29-41b58b434642")
    .action((ids: string[], flags: ClientFlags) => cancel(ids, flags));
}

async function cancel(ids: readonly string[], flags: ClientFlags): Promise<void> {
  await withClient(flags, async (client) => {
    for (const id of ids) {
      const asked = await client.post<{ run: string; how: string }>(`/v1/runs/${pathId(id)}/cancel`);
      if (flags.json) printJson(asked);
      else
        print([asked.how === "cancelled" ? `${asked.run} is cancelled.` : `${asked.run} was asked to end.`]);
    }
  });
}

function addRetry(runs: Command): void {
  addClientFlags(runs.command("retry"))
    .argument("<run>")
    .description("ask again what a run was asked that failed, was interrupted or cancelled")
    .addHelpText("after", "\nExample:\n  waybill runs retry run_01a22ea9-f268-755e-8d29-41b58b434642")
    .action((id: string, flags: ClientFlags) => retry(id, flags));
}

async function retry(id: string, flags: ClientFlags): Promise<void> {
  const accepted = await withClient(flags, (client) =>
    client.post<WireAccepted>(`/v1/runs/${pathId(id)}/retry`),
  );
  if (flags.json) printJson(accepted);
  else print([`Asked again in ${accepted.address}: ${accepted.run ?? accepted.turn}`]);
}
