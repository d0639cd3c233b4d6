import type { WireMessage, WireRun } from "../../../../src/http/api.ts";
import type { Outgoing } from "../../data/outgoing.ts";
import { dayOf } from "../../data/time.ts";

/** One line of a conversation as it is shown. */
export type Row =
  | { kind: "day"; key: string; at: string }
  | { kind: "unread"; key: string }
  | { kind: "message"; key: string; message: WireMessage; first: boolean }
  /** A run whose answer is due here; `said`: it has posted something here already. */
  | { kind: "live"; key: string; run: WireRun; said: boolean }
  | { kind: "outgoing"; key: string; outgoing: Outgoing };

/** Messages of one author that follow within this time stand under one name. */
const togetherMs = 5 * 60_000;

export function buildRows(of: {
  messages: readonly WireMessage[];
  runs: readonly WireRun[];
  outgoing: readonly Outgoing[];
  /** The post_seq up to which was read when the place was opened; null: no mark. */
  readTo: number | null;
}): Row[] {
  const rows: Row[] = [];
  let before: WireMessage | null = null;
  for (const message of of.messages) {
    const newDay = before === null || dayOf(before.at) !== dayOf(message.at);
    if (newDay) rows.push({ kind: "day", key: `day:${message.postSeq}`, at: message.at });
    const mark = of.readTo !== null && before?.postSeq === of.readTo;
    if (mark) rows.push({ kind: "unread", key: "unread" });
    const first = newDay || mark || !isTogether(before, message);
    rows.push({ kind: "message", key: message.id, message, first });
    before = message;
  }
  const sent = new Set(of.outgoing.length === 0 ? [] : of.messages.slice(-200).map((one) => one.platformId));
  const said = new Set(
    of.runs.length === 0 ? [] : of.messages.map((one) => one.role === "assistant" && one.run),
  );
  for (const run of of.runs) rows.push({ kind: "live", key: `live:${run.id}`, run, said: said.has(run.id) });
  for (const outgoing of of.outgoing) {
    if (!sent.has(outgoing.id)) rows.push({ kind: "outgoing", key: `out:${outgoing.id}`, outgoing });
  }
  return rows;
}

function isTogether(before: WireMessage | null, message: WireMessage): boolean {
  if (!before || before.role !== message.role) return false;
  if (message.role === "assistant" && (before.run !== message.run || message.run === null)) return false;
  if (message.role === "user" && before.sender?.id !== message.sender?.id) return false;
  return Math.abs(Date.parse(message.at) - Date.parse(before.at)) < togetherMs;
}
