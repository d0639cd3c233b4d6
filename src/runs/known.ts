import type { HistoryItem, MessagePart, RunFact } from "../agents/agent.ts";
import { readPlaceFacts, readPlaceFactsNow, type FactRow } from "../ledger/place-runs.ts";
import { readMemory, readMemoryNow, type Remembered } from "../turns/memory.ts";
import type { RunRecord } from "../ledger/read-runs.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunServices } from "./services.ts";

/** What a run knows when it begins: the memory of its place, and the ledger's facts about it. */
export interface Known {
  readonly history: HistoryItem[];
  readonly facts: RunFact[];
}

/** Facts of a place that a run is given. */
const FACTS = 10;

/**
 * Reads what a run knows. Where the store answers at once, it is asked only when the agent looks: reading 40 items and
 * 10 facts for a run that needs neither took a third of a busy main thread.
 */
export async function readKnown(s: RunServices, live: LiveRun): Promise<Known> {
  const { scope, replyTo, id } = live.run;
  const { db, tenant, memoryWindow } = s;
  const { readNow } = db;
  if (!readNow) {
    const [memory, facts] = await Promise.all([
      readMemory(db, tenant, scope, memoryWindow),
      readPlaceFacts(db, tenant, replyTo, FACTS),
    ]);
    return { history: asHistory(memory, id), facts: asFacts(facts, id) };
  }
  let history: HistoryItem[] | null = null;
  let facts: RunFact[] | null = null;
  return {
    get history() {
      history ??= asHistory(readMemoryNow(readNow, tenant, scope, memoryWindow), id);
      return history;
    },
    get facts() {
      facts ??= asFacts(readPlaceFactsNow(readNow, tenant, replyTo, FACTS), id);
      return facts;
    },
  };
}

/** What the run itself has said meanwhile is not its past. */
function asHistory(memory: readonly Remembered[], own: string): HistoryItem[] {
  return memory.filter((item) => item.run !== own).map(toHistory);
}

function asFacts(rows: readonly FactRow[], own: string): RunFact[] {
  return rows.filter((row) => row.id !== own).map(toFact);
}

function toHistory(item: Remembered): HistoryItem {
  const parts =
    item.parts === null ? [{ type: "text", text: item.text }] : (JSON.parse(item.parts) as unknown[]);
  return {
    role: item.role,
    text: item.text,
    parts: parts as MessagePart[],
    sender: item.sender,
    run: item.run,
    origin: item.origin,
    at: new Date(item.at).toISOString(),
  };
}

export function toFact(run: FactRow): RunFact {
  const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    run: run.id,
    agent: run.agent,
    state: run.state as RunFact["state"],
    reason: run.reason,
    background: run.foreground === 0,
    progress: run.progress,
    asked: new Date(run.created_at).toISOString(),
    startedAt: iso(run.started_at),
    finishedAt: iso(run.finished_at),
  };
}

/** The same of a whole record. */
export function factOfRecord(run: RunRecord): RunFact {
  return toFact({
    id: run.id,
    agent: run.agent,
    state: run.state,
    reason: run.reason,
    foreground: run.foreground ? 1 : 0,
    progress: run.progress,
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
  });
}
