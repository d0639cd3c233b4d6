import { describe, expect, test } from "vitest";
import type { Database } from "../db/database.ts";
import { manualClock } from "../kernel/clock.ts";
import { silentLogger } from "../kernel/logger.ts";
import { Heartbeat } from "./heartbeat.ts";

type Answer = { renewed: boolean; aborts: { run: string; cause: string }[] } | "hangs" | "fails";

/** A heartbeat with a lease of 9 s, whose store answers as the test says. */
function beating(dialect: Database["dialect"] = "postgres") {
  const clock = manualClock();
  const events: string[] = [];
  const state: { answer: Answer } = { answer: { renewed: true, aborts: [] } };
  const db = {
    dialect,
    do() {
      events.push("renew");
      if (state.answer === "hangs") return new Promise(() => {});
      return state.answer === "fails" ? Promise.reject(new Error("away")) : Promise.resolve(state.answer);
    },
  } as Partial<Database> as Database;
  const heartbeat = new Heartbeat({
    tenant: "t",
    boot: "boot",
    leaseMs: 9_000,
    db,
    clock,
    log: silentLogger,
    onAborts: (asked) => events.push(`aborts ${asked.map(({ run }) => run).join(" ")}`),
    onLost: (forGood) => events.push(forGood ? "lost for good" : "lost"),
    onBeat: () => events.push("beat"),
  });
  heartbeat.start(clock.now());
  return {
    events,
    heartbeat,
    answer: (answer: Answer) => (state.answer = answer),
    /** Moves the clock and lets the store answer. */
    async pass(ms: number) {
      clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe("a heartbeat", () => {
  test("renews three times a lease, and nothing is lost", async () => {
    const t = beating();
    for (let i = 0; i < 12; i += 1) await t.pass(3_000);
    expect(t.events.filter((event) => event === "beat")).toHaveLength(12);
    expect(t.events).not.toContain("lost");
  });

  test("passes on the runs that were asked to end", async () => {
    const t = beating();
    t.answer({ renewed: true, aborts: [{ run: "run_1", cause: "cancel" }] });
    await t.pass(3_000);
    expect(t.events).toEqual(["renew", "aborts run_1", "beat"]);
  });

  test("gives up in time when the store never answers", async () => {
    const t = beating();
    await t.pass(3_000);
    t.answer("hangs");
    await t.pass(3_000);
    await t.pass(5_000);
    expect(t.events).not.toContain("lost");
    await t.pass(200); // 8.2 s after the renewal that was confirmed; the lease is 9.
    expect(t.events.filter((event) => event === "lost")).toHaveLength(1);
  });

  test("gives up again what is claimed while the store fails, and goes on when it is back", async () => {
    const t = beating();
    t.answer("fails");
    for (let i = 0; i < 5; i += 1) await t.pass(3_000);
    expect(t.events.filter((event) => event === "lost").length).toBeGreaterThan(1);
    t.answer({ renewed: true, aborts: [] });
    await t.pass(3_000);
    const lost = t.events.filter((event) => event === "lost").length;
    for (let i = 0; i < 6; i += 1) await t.pass(3_000);
    expect(t.events.filter((event) => event === "lost")).toHaveLength(lost);
  });

  test("ends when its lease was taken over", async () => {
    const t = beating();
    t.answer({ renewed: false, aborts: [] });
    await t.pass(3_000);
    await t.pass(30_000);
    expect(t.events).toEqual(["renew", "lost for good"]);
  });

  test("says nothing any more once it was stopped", async () => {
    const t = beating();
    t.heartbeat.stop();
    await t.pass(30_000);
    expect(t.events).toEqual([]);
  });

  test("on SQLite gives nothing up, however long the process slept", async () => {
    const t = beating("sqlite");
    t.answer("fails");
    for (let i = 0; i < 10; i += 1) await t.pass(3_000);
    expect(t.events.every((event) => event === "renew")).toBe(true);
  });
});
