import type { Command } from "commander";
import type { Page, WireDelivery } from "../../http/api.ts";
import { addClientFlags, pathId, queryOf, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { deliveryLines } from "../show-run.ts";
import { renderTable } from "../table.ts";
import { age, columns, paint, print, printJson } from "../terminal.ts";

interface ListFlags extends ClientFlags {
  state?: string;
  run?: string;
  address?: string;
  limit?: string;
  next?: string;
}

export function addDeliveries(program: Command): void {
  const deliveries = program.command("deliveries").description("messages on their way, and where they went");
  addList(deliveries);
  addClientFlags(deliveries.command("show"))
    .argument("<delivery>")
    .description("one delivery: why it went there, its attempts and receipts")
    .addHelpText("after", "\nExample:\n  waybill deliveries show dlv_01a22ea9-f273-76a5-88e9-ce723f25d796")
    .action(async (id: string, flags: ClientFlags) => {
      const delivery = await withClient(flags, (client) =>
        client.get<WireDelivery>(`/v1/deliveries/${pathId(id)}`),
      );
      if (flags.json) printJson(delivery);
      else print(deliveryLines(delivery));
    });
  addClientFlags(deliveries.command("retry"))
    .argument("<delivery...>")
    .description("send again what is unknown, blocked, held or dead")
    .option("--to <address>", "the place for one that is held without an address")
    .addHelpText(
      "after",
      `
Example:
  waybill deliveries retry dlv_01a22ea9-f273-76a5-88e9-ce723f25d796

One that is unknown may have arrived: sent again, it may then be there twice.`,
    )
    .action((ids: string[], flags: ClientFlags & { to?: string }) => retry(ids, flags));
}

function addList(deliveries: Command): void {
  addClientFlags(deliveries.command("list"))
    .description("deliveries, newest first")
    .option("--state <states>", "only these, with commas: pending,unknown,dead,...")
    .option("--run <run>", "only those of this run")
    .option("--address <address>", "only those to this place")
    .option("--limit <number>", "at most so many, 1 to 1000", "20")
    .option("--next <place>", "the page after this one (its --json has it)")
    .addHelpText(
      "after",
      `
Examples:
  waybill deliveries list
  waybill deliveries list --state unknown,blocked,dead`,
    )
    .action((flags: ListFlags) => list(flags));
}

async function list(flags: ListFlags): Promise<void> {
  const { state, run, address, limit, next } = flags;
  const query = queryOf({ state, run, address, limit, next });
  const page = await withClient(flags, (client) => client.get<Page<WireDelivery>>(`/v1/deliveries${query}`));
  if (flags.json) printJson(page);
  else print(tableOf(page));
}

function tableOf({ items, next }: Page<WireDelivery>): string[] {
  if (items.length === 0) return ["No deliveries."];
  const [title = "", ...rows] = renderTable(
    items,
    [
      { title: "DELIVERY", text: (delivery) => delivery.id },
      { title: "STATE", text: (delivery) => delivery.state },
      { title: "AGE", text: (delivery) => age(delivery.createdAt) },
      { title: "KIND", text: (delivery) => delivery.kind },
      { title: "TO", text: (delivery) => delivery.address, cut: true },
    ],
    columns(),
  );
  return [paint("bold", title), ...rows, ...(next === null ? [] : [paint("grey", `more: --next ${next}`)])];
}

async function retry(ids: readonly string[], flags: ClientFlags & { to?: string }): Promise<void> {
  const body = flags.to === undefined ? {} : { to: flags.to };
  await withClient(flags, async (client) => {
    for (const id of ids) {
      const answer = await client.post<{ delivery: string; state: string }>(
        `/v1/deliveries/${pathId(id)}/retry`,
        body,
      );
      if (flags.json) printJson(answer);
      else print([`${answer.delivery} is ${answer.state} again.`]);
    }
  });
}
