import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asWaybillError } from "../kernel/errors.ts";
import type { GrantedRun } from "../ledger/grants.ts";
import { selectRun, type TurnHint } from "./select-run.ts";

const graceMs = 60_000;

function run(n: number, at: string, how: { ended?: number; agentTurn?: string } = {}): GrantedRun {
  return {
    id: `run_${n}`,
    turn: `turn_${n}`,
    agent: "assistant",
    replyTo: `web:main/${at}`,
    state: how.ended === undefined ? "running" : "completed",
    fence: 1,
    finishedAt: how.ended ?? null,
    scope: at,
    kind: "dm",
    agentTurn: how.agentTurn ?? null,
  };
}

const nothing: TurnHint = { echo: null, agentTurn: null };
const echoOf = ({ turn, replyTo }: GrantedRun): TurnHint => ({
  echo: { turn, address: replyTo },
  agentTurn: null,
});

function chosen(
  runs: GrantedRun[],
  hint: TurnHint,
  onePlace = new Set(runs.map((one) => one.replyTo)).size <= 1,
) {
  try {
    const selection = selectRun({ runs, onePlace }, hint);
    return "run" in selection ? selection.run.id : "absent";
  } catch (thrown) {
    return asWaybillError(thrown).code;
  }
}

describe("without an echo", () => {
  test("the one live run of a grant that only ever worked for one address", () => {
    expect(chosen([run(1, "a")], nothing)).toBe("run_1");
    expect(chosen([run(1, "a", { ended: 5 }), run(2, "a")], nothing)).toBe("run_2");
  });

  test("after its end, the one that ended last", () => {
    expect(chosen([run(1, "a", { ended: 5 }), run(2, "a", { ended: 9 })], nothing)).toBe("run_2");
  });

  test("two live runs: say which", () => {
    expect(chosen([run(1, "a"), run(2, "b")], nothing)).toBe("turn_required");
    expect(chosen([run(1, "a"), run(2, "a")], nothing)).toBe("turn_required");
  });

  test("a holder that has worked for another address may be calling late for it, however long ago", () => {
    expect(chosen([run(1, "a", { ended: 5 }), run(2, "b")], nothing)).toBe("turn_required");
    expect(chosen([run(2, "b")], nothing, false)).toBe("turn_required");
  });

  test("nothing goes on", () => {
    expect(chosen([], nothing)).toBe("no_live_turn");
  });
});

describe("with an echo or a recorded turn", () => {
  const runs = [
    run(1, "a", { agentTurn: "t1" }),
    run(2, "b", { agentTurn: "t2" }),
    run(3, "c", { ended: 5 }),
  ];

  test("each selects its own, also within the grace time", () => {
    for (const one of runs) expect(chosen(runs, echoOf(one))).toBe(one.id);
    expect(chosen(runs, { echo: null, agentTurn: "t2" })).toBe("run_2");
  });

  test("a turn that is not among them is told apart from one that is", () => {
    expect(chosen(runs, echoOf(run(9, "a")))).toBe("absent");
    expect(chosen(runs, { echo: { turn: "turn_1", address: "web:main/b" }, agentTurn: null })).toBe("absent");
  });

  test("two that contradict each other select nothing", () => {
    expect(chosen(runs, { ...echoOf(runs[0]!), agentTurn: "t2" })).toBe("turn_mismatch");
    expect(chosen(runs, { ...echoOf(runs[0]!), agentTurn: "t1" })).toBe("run_1");
  });

  test("an id that we did not record counts as none", () => {
    expect(chosen(runs, { echo: null, agentTurn: "t9" })).toBe("turn_required");
    expect(chosen(runs, { ...echoOf(runs[1]!), agentTurn: "t9" })).toBe("run_2");
  });
});

test("a refusal names the addresses of this grant, and no signature", () => {
  try {
    selectRun({ runs: [run(1, "a"), run(2, "b")], onePlace: false }, nothing);
    expect.unreachable();
  } catch (thrown) {
    const { message, details } = asWaybillError(thrown);
    expect(details["addresses"]).toEqual(["web:main/a", "web:main/b"]);
    expect(message).toContain("web:main/a, web:main/b");
    expect(message).not.toContain("sig=");
  }
});

/** A process that works through turns; calls come early, late, with an echo of any turn, or with none. */
type Step =
  | { kind: "begin"; at: number }
  | { kind: "end"; turn: number }
  | { kind: "wait"; ms: number }
  | Call;
type Call = { kind: "call"; of: number; echo: boolean; agentTurn: boolean };

const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ kind: fc.constant("begin" as const), at: fc.nat(2) }),
    fc.record({ kind: fc.constant("end" as const), turn: fc.nat(9) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(90_000) }),
    fc.record({
      kind: fc.constant("call" as const),
      of: fc.nat(9),
      echo: fc.boolean(),
      agentTurn: fc.boolean(),
    }),
  ),
  { minLength: 10, maxLength: 40, size: "max" },
);

test("no call, early or late, ever gets the address of another turn", () => {
  const seen = { own: 0, refused: 0, late: 0 };
  fc.assert(
    fc.property(steps, (script) => {
      const all: GrantedRun[] = [];
      let now = 1_000;
      for (const step of script) {
        if (step.kind === "begin")
          all.push(run(all.length, `place-${step.at}`, { agentTurn: `t${all.length}` }));
        else if (step.kind === "wait") now += step.ms;
        else if (step.kind === "end") {
          const one = all[step.turn];
          if (one?.finishedAt === null) Object.assign(one, { finishedAt: now, state: "completed" });
        } else if (all.length > 0) {
          const caller = all[step.of % all.length]!;
          const runs = all.filter(({ finishedAt }) => finishedAt === null || finishedAt >= now - graceMs);
          const hint = {
            echo: step.echo ? { turn: caller.turn, address: caller.replyTo } : null,
            agentTurn: step.agentTurn ? caller.agentTurn : null,
          };
          const got = chosen(runs, hint, new Set(all.map((one) => one.replyTo)).size <= 1);
          const found = all.find(({ id }) => id === got);
          if (found) expect(found.replyTo).toBe(caller.replyTo);
          if (found && step.echo) expect(found.id).toBe(caller.id);
          // What names a turn that may still be acted for is never refused.
          if (step.echo && runs.includes(caller)) expect(got).toBe(caller.id);
          seen[found ? "own" : "refused"] += 1;
          if (found && caller.finishedAt !== null) seen.late += 1;
        }
      }
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(seen.own, seen.refused, seen.late)).toBeGreaterThan(100);
});
