import type { Command } from "commander";
import type { Page, WireSlot } from "../../http/api.ts";
import { addClientFlags, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { renderTable } from "../table.ts";
import { age, columns, paint, print, printJson } from "../terminal.ts";

export function addSlots(program: Command): void {
  const slots = program
    .command("slots")
    .description("the places that accounts remember for sends that belong to no turn");
  addClientFlags(slots.command("list"))
    .description("what stands in each slot")
    .addHelpText("after", "\nExample:\n  waybill slots list")
    .action((flags: ClientFlags) => list(flags));
  addClientFlags(slots.command("clear"))
    .argument("<account>")
    .argument("<slot>", "last-active or latest-seen")
    .description("take a place out of a slot; the other slot stays")
    .addHelpText("after", "\nExample:\n  waybill slots clear slack:T1 last-active")
    .action((account: string, slot: string, flags: ClientFlags) => clear(account, slot, flags));
}

async function list(flags: ClientFlags): Promise<void> {
  const page = await withClient(flags, (client) => client.get<Page<WireSlot>>("/v1/slots"));
  if (flags.json) return printJson(page);
  if (page.items.length === 0) return print(["No slot holds a place. They fill only with lastActive: true."]);
  const [title = "", ...rows] = renderTable(
    page.items,
    [
      { title: "ACCOUNT", text: (one) => one.account },
      { title: "SLOT", text: (one) => one.slot },
      { title: "AGE", text: (one) => age(one.at) },
      { title: "PLACE", text: (one) => one.address, cut: true },
    ],
    columns(),
  );
  print([paint("bold", title), ...rows]);
}

async function clear(account: string, slot: string, flags: ClientFlags): Promise<void> {
  const path = `/v1/slots/${encodeURIComponent(account)}/${encodeURIComponent(slot)}`;
  const answer = await withClient(flags, (client) => client.delete<{ address: string | null }>(path));
  if (flags.json) return printJson(answer);
  print([
    answer.address === null
      ? `The slot ${slot} of ${account} was empty.`
      : `The slot ${slot} of ${account} no longer holds ${answer.address}.`,
  ]);
}
