import type { Command } from "commander";
import type { Page, WireDenial } from "../../http/api.ts";
import { addClientFlags, queryOf, withClient } from "../client-flags.ts";
import type { ClientFlags } from "../client.ts";
import { renderTable } from "../table.ts";
import { age, columns, paint, print, printJson } from "../terminal.ts";

interface ListFlags extends ClientFlags {
  limit?: string;
  next?: string;
}

export function addDenials(program: Command): void {
  const denials = program.command("denials").description("who was turned away");
  addClientFlags(denials.command("list"))
    .description("senders who may not speak here, the latest first, with the id that an allow list takes")
    .option("--limit <number>", "at most so many, 1 to 1000", "20")
    .option("--next <place>", "the page after this one (its --json has it)")
    .addHelpText("after", "\nExample:\n  waybill denials list")
    .action((flags: ListFlags) => list(flags));
}

async function list(flags: ListFlags): Promise<void> {
  const query = queryOf({ limit: flags.limit, next: flags.next });
  const page = await withClient(flags, (client) => client.get<Page<WireDenial>>(`/v1/denials${query}`));
  if (flags.json) printJson(page);
  else print(tableOf(page));
}

function tableOf({ items, next }: Page<WireDenial>): string[] {
  if (items.length === 0) return ["Nobody was turned away."];
  const [title = "", ...rows] = renderTable(
    items,
    [
      // Whole, because it is what is copied.
      { title: "SENDER", text: (denial) => denial.sender },
      { title: "NAME", text: (denial) => denial.name ?? "-" },
      { title: "TIMES", text: (denial) => String(denial.times) },
      { title: "LAST", text: (denial) => age(denial.lastAt) },
      { title: "IN", text: (denial) => denial.address, cut: true },
      { title: "WHY", text: (denial) => denial.reason, cut: true },
    ],
    columns(),
  );
  return [paint("bold", title), ...rows, ...(next === null ? [] : [paint("grey", `more: --next ${next}`)])];
}
