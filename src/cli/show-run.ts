import type { WireDelivery, WireRun, WireRunEvent, WireRunState } from "../http/api.ts";
import { oneLine, renderFields } from "./table.ts";
import { age, columns, paint, span, type Colour } from "./terminal.ts";

const stateColours: Readonly<Record<WireRunState, Colour>> = {
  staged: "grey",
  queued: "grey",
  running: "blue",
  waiting: "yellow",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
  interrupted: "yellow",
};

export function isLive(state: WireRunState): boolean {
  return state === "staged" || state === "queued" || state === "running" || state === "waiting";
}

export function paintState(state: WireRunState, text: string = state): string {
  return paint(stateColours[state], text);
}

/** `4m ago (2026-11-30T22:53:39.304Z)` */
export function ago(time: string | null): string | null {
  return time === null ? null : `${age(time)} ago (${time})`;
}

/** A run as lines of a terminal. */
export function runLines(run: WireRun): string[] {
  const took = span(run.startedAt, run.finishedAt);
  const percent = run.progress?.percent ?? null;
  return renderFields(
    [
      ["run", run.id],
      ["state", run.state + (run.reason === null ? "" : ` (${run.reason})`)],
      ["agent", run.agent + (run.background ? ", a job" : "")],
      ["asked", run.text],
      ["by", run.sender === null ? null : (run.sender.name ?? run.sender.id)],
      ["asked in", run.origin],
      ["answer due in", run.replyTo],
      ["posted in", run.postedIn],
      ["progress", run.progress && run.progress.text + (percent === null ? "" : ` (${percent} %)`)],
      ["recorded", ago(run.createdAt)],
      ["started", ago(run.startedAt)],
      ["finished", run.finishedAt && `${ago(run.finishedAt)}${took === null ? "" : `, after ${took}`}`],
      ["attempts", String(run.attempts)],
      ["usage", run.usage && JSON.stringify(run.usage)],
      ["turn", run.turn],
      ["parent", run.parent],
      ["stream", run.stream],
    ],
    columns(),
  );
}

/** `  +0.2s  claimed  owner=boot_… attempt=1`; times count from the first event. */
export function eventLines(events: readonly WireRunEvent[]): string[] {
  const from = events[0]?.at;
  return events.map((event) => eventLine(event, from));
}

export function eventLine({ kind, data, at }: WireRunEvent, from: string | undefined): string {
  const after = from === undefined ? "" : `+${span(from, at) ?? "0.0s"}`;
  const details = Object.entries(data ?? {})
    .filter(([name, value]) => name !== "v" && value !== null)
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const [first = "", ...rest] = renderFields(
    [[`${after.padStart(8)}  ${kind.padEnd(12)}`, details.join(" ") || "-"]],
    columns(),
  );
  return [first.replace(/ +-$/, ""), ...rest].join("\n");
}

/** A delivery as lines of a terminal. */
export function deliveryLines(delivery: WireDelivery): string[] {
  return [
    ...renderFields(
      [
        ["delivery", delivery.id],
        ["state", delivery.state + (delivery.reason === null ? "" : ` (${delivery.reason})`)],
        ["kind", delivery.kind],
        ["to", delivery.address],
        ["rule", delivery.rule],
        ["why", delivery.why],
        ["run", delivery.run],
        ["turn", delivery.turn],
        ["attempts", String(delivery.attempts)],
        ["recorded", ago(delivery.createdAt)],
        ["settled", ago(delivery.settledAt)],
        ["next attempt", delivery.nextAt],
      ],
      columns(),
    ),
    ...delivery.rejected.map(
      ({ rule, address, reason }) => `refused   ${oneLine(`${address} (${rule}): ${reason}`)}`,
    ),
    ...delivery.ops.map(({ kind, part, state, attempts, error }) => {
      const tries = `${attempts} attempt${attempts === 1 ? "" : "s"}`;
      return `op        ${oneLine([`${kind} ${part}: ${state}`, tries, error ?? ""].filter(Boolean).join(", "))}`;
    }),
    ...delivery.receipts.map(
      ({ part, platformId, permalink, at }) =>
        `receipt   ${oneLine(`${part}: ${platformId} ${permalink ?? ""}`)}, ${age(at)} ago`,
    ),
  ];
}
