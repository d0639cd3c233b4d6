import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Page, WireRun, WireRunEvent } from "../../http/api.ts";
import { addClientFlags, pathId, withClient } from "../client-flags.ts";
import type { Client, ClientFlags } from "../client.ts";
import { eventLine, isLive, paintState } from "../show-run.ts";
import { print, printJson } from "../terminal.ts";

/** How often the ledger is looked into. */
const LOOK_MS = 500;

export function addRunsWatch(runs: Command): void {
  addClientFlags(runs.command("watch"))
    .argument("[run]")
    .description("follow a run until it has ended; without one, follow all that begin and end")
    .addHelpText(
      "after",
      `
Examples:
  waybill runs watch
  waybill runs watch run_01a22ea9-f268-755e-8d29-41b58b434642 --json

Exit code 0: the run completed. 1: it ended in another way.`,
    )
    .action((id: string | undefined, flags: ClientFlags) =>
      withClient(flags, (client) =>
        id === undefined ? watchAll(client, flags.json === true) : watchOne(client, id, flags.json === true),
      ),
    );
}

/** Every event of a run as it is stored, then the run. JSON lines: events, and the run as the last one. */
async function watchOne(client: Client, id: string, json: boolean): Promise<void> {
  const path = `/v1/runs/${pathId(id)}`;
  let from: string | undefined;
  let progress: string | null = null;
  let after = 0;
  for (;;) {
    // The run first: an event that came with its end is then in the page that is read after it.
    const run = await client.get<WireRun>(path);
    const { items } = await client.get<Page<WireRunEvent>>(`${path}/events?limit=1000&next=${after}`);
    for (const event of items) {
      from ??= event.at;
      after = event.seq;
      if (json) printJson(event);
      else print([eventLine(event, from)]);
    }
    if (run.progress !== null && run.progress.text !== progress && isLive(run.state)) {
      progress = run.progress.text;
      if (!json) print([`          ${progress}`]);
    }
    if (!isLive(run.state)) {
      if (json) printJson(run);
      else print([`${run.id} ${paintState(run.state)}${run.reason === null ? "" : ` (${run.reason})`}`]);
      process.exitCode = run.state === "completed" ? 0 : 1;
      return;
    }
    if (items.length < 1000) await wait(LOOK_MS);
  }
}

/** Each change of state of each run, until the server or the user ends it. */
async function watchAll(client: Client, json: boolean): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const live = await client.get<Page<WireRun>>("/v1/runs?state=staged,queued,running,waiting&limit=1000");
  for (const { id, state, replyTo } of live.items.toReversed())
    show({ run: id, state, address: replyTo }, json);
  try {
    for await (const event of client.events("/v1/conversations/events", stop.signal)) {
      if (event.event === "run") show(JSON.parse(event.data) as Change, json);
    }
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
  }
}

type Change = { run: string; state: WireRun["state"]; address: string };

function show(change: Change, json: boolean): void {
  if (json) printJson(change);
  else print([`${change.run}  ${paintState(change.state, change.state.padEnd(11))}  ${change.address}`]);
}
