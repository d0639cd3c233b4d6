/** What is true of a ledger at any moment, whoever did what to it in whatever order. */
import { expect } from "vitest";
import { isTerminal, type RunState } from "../../src/ledger/run.ts";
import type { LedgerHarness } from "./ledger-harness.ts";

type Rows<K extends "runs" | "events" | "deliveries" | "messages"> = Awaited<ReturnType<LedgerHarness[K]>>;
type Run = Rows<"runs">[number];

export interface Snapshot {
  runs: Rows<"runs">;
  events: Rows<"events">;
  deliveries: Rows<"deliveries">;
  messages: Rows<"messages">;
}

export async function snapshot(ledger: LedgerHarness): Promise<Snapshot> {
  const [runs, events, deliveries, messages] = await Promise.all([
    ledger.runs(),
    ledger.events(),
    ledger.deliveries(),
    ledger.messages(),
  ]);
  return { runs, events, deliveries, messages };
}

const ended = (run: Run): boolean => isTerminal(run.state as RunState);

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  return Map.groupBy(items, key);
}

/** Holds a moment against the rules, and against the moment before it. Snapshots are taken while nothing is under way. */
export function checkInvariants(now: Snapshot, before: Snapshot | null): void {
  checkLanes(now.runs);
  checkEvents(now);
  checkJobs(now);
  checkEnds(now);
  for (const [address, posts] of groupBy(now.messages, (post) => post.address)) {
    expect(
      posts.map((post) => post.post_seq),
      `posts of ${address}`,
    ).toEqual(posts.map((_, i) => i + 1));
  }
  if (before) checkHistory(now.runs, before.runs);
}

function checkLanes(runs: readonly Run[]): void {
  const open = runs.filter((run) => run.foreground === 1 && !ended(run));
  for (const [lane, unordered] of groupBy(open, (run) => run.lane)) {
    const inLane = unordered.toSorted((a, b) => a.lane_seq - b.lane_seq);
    const live = inLane.filter((run) => run.state === "running" || run.state === "waiting");
    expect(live.length, `live runs of ${lane}`).toBeLessThanOrEqual(1);
    // What lives is the head, and a queued head may be claimed: no run is overtaken, no lane is stuck.
    if (live[0]) expect(live[0].id, `the live run of ${lane} is its head`).toBe(inLane[0]?.id);
    const ready = inLane.filter((run) => run.ready === 1).map((run) => run.id);
    expect(ready, `ready runs of ${lane}`).toEqual(inLane[0]?.state === "queued" ? [inLane[0].id] : []);
  }
  for (const inLane of groupBy(runs, (run) => `${run.foreground} ${run.lane}`).values()) {
    const lastStarted = Math.max(0, ...inLane.filter((run) => run.attempts > 0).map((run) => run.lane_seq));
    // Runs start in the order of their lane: whatever came before one that started has ended.
    for (const run of inLane) {
      if (run.foreground === 1 && run.lane_seq < lastStarted) {
        expect(ended(run), `${run.id} came before one that has started`).toBe(true);
      }
    }
  }
  for (const run of runs) {
    if (run.state !== "queued") expect(run.ready, `${run.id} is ${run.state} and ready`).toBe(0);
    if (run.state === "queued" && run.foreground === 0) expect(run.ready).toBe(1);
    const isLive = run.state === "running" || run.state === "waiting";
    if (isLive) expect(run.owner, `${run.id} lives and has an owner`).not.toBeNull();
    expect(run.finished_at !== null, `${run.id} is ${run.state} and has an end`).toBe(ended(run));
  }
}

function checkEvents({ runs, events }: Snapshot): void {
  const byRun = groupBy(events, (event) => event.run_id);
  for (const run of runs) {
    const own = byRun.get(run.id) ?? [];
    expect(
      own.map((event) => event.event_seq),
      `events of ${run.id}`,
    ).toEqual(Array.from({ length: run.event_seq }, (_, i) => i + 1));
    expect(own.filter((event) => event.kind === "claimed").length, `claims of ${run.id}`).toBe(run.attempts);
    if (ended(run)) {
      expect(own.at(-1)?.kind, `the last event of ${run.id}`).toBe(run.state);
    }
  }
}

/** A job begins with a committed message of its parent, and never without one. */
function checkJobs({ runs, events, deliveries }: Snapshot): void {
  const byId = new Map(runs.map((run) => [run.id, run]));
  for (const job of runs) {
    if (job.parent_run === null) continue;
    const parent = byId.get(job.parent_run);
    const released = events.some((event) => event.run_id === job.id && event.kind === "released");
    const acknowledged = deliveries.some(
      (one) => one.run_id === job.parent_run && (one.kind === "say" || one.kind === "final"),
    );
    if (job.state === "staged") {
      expect(parent && !ended(parent), `the parent of the staged ${job.id} lives`).toBe(true);
    }
    if (released) expect(acknowledged, `${job.id} was released and its parent said something`).toBe(true);
    else expect(["staged", "cancelled"], `${job.id} was not released`).toContain(job.state);
    if (!released) expect(job.attempts, `${job.id} was never claimed`).toBe(0);
  }
}

function checkEnds({ runs, deliveries }: Snapshot): void {
  const byRun = groupBy(deliveries, (one) => one.run_id ?? "");
  for (const run of runs) {
    const own = byRun.get(run.id) ?? [];
    const ofKind = (kind: string): number => own.filter((one) => one.kind === kind).length;
    const isNoticed = run.state === "interrupted" || run.state === "failed";
    expect(ofKind("notice"), `notices of ${run.id}, which is ${run.state}`).toBe(isNoticed ? 1 : 0);
    expect(ofKind("final"), `answers of ${run.id}`).toBeLessThanOrEqual(run.state === "completed" ? 1 : 0);
    for (const one of own) expect(one.address, `a delivery of ${run.id}`).toBe(run.reply_to);
    if (ended(run) && (run.abort_cause === "cancel" || run.abort_cause === "parent")) {
      expect(run.state, `${run.id} was cancelled`).toBe("cancelled");
    }
  }
}

/** What has ended stays as it is, and no fence ever goes back. */
function checkHistory(runs: readonly Run[], before: readonly Run[]): void {
  const now = new Map(runs.map((run) => [run.id, run]));
  for (const old of before) {
    const run = now.get(old.id);
    if (!run) throw new Error(`The run ${old.id} is gone.`);
    if (ended(old)) expect(run, `${old.id} had ended`).toEqual(old);
    expect(run.fence, `the fence of ${old.id}`).toBeGreaterThanOrEqual(old.fence);
    expect([run.reply_to, run.origin, run.lane, run.lane_seq, run.turn_id]).toEqual([
      old.reply_to,
      old.origin,
      old.lane,
      old.lane_seq,
      old.turn_id,
    ]);
  }
}
