/** A claimed run is brought to its end, whatever the store, the streams or an agent do. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { worksOn, type Works } from "../../test/contracts/executor-harness.ts";
import { openLedger } from "../../test/contracts/ledger-harness.ts";
import { through } from "../../test/support/failing-database.ts";
import { fnAgent } from "../agents/function/function-agent.ts";
import type { Command } from "../db/command.ts";
import type { Database } from "../db/database.ts";
import { WaybillError } from "../kernel/errors.ts";
import { askAbort } from "../ledger/ask-abort.ts";
import type { StreamStore } from "../streams/stream.ts";
import { recoverRuns } from "./recover-runs.ts";

const folder = mkdtempSync(path.join(tmpdir(), "waybill-executor-"));
let db: Database;
beforeAll(async () => {
  db = await openLedger(path.join(folder, "runs.db"));
});
afterAll(async () => {
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const away = new WaybillError("store_unavailable", "The store is away.");

/** A store that does something of its own with one command, and everything else as it should. */
function meddling(name: string, meddle: (done: () => Promise<unknown>) => Promise<unknown>): Database {
  return {
    ...through(db),
    do: <I, O>(command: Command<I, O>, input: I) => {
      const done = (): Promise<O> => db.do(command, input);
      return command.name === name ? (meddle(done) as Promise<O>) : done();
    },
  };
}

const assistant = fnAgent(async (ctx) => `answer to ${ctx.text}`);
const versionOf = { version: assistant.version };

async function answersOf({ ledger }: Works, run: string | null): Promise<string[]> {
  return (await ledger.messages()).filter((post) => post.run_id === run).map((post) => post.text);
}

describe("a run whose finish", () => {
  test("meets a store that is away for long is finished when it is back", async () => {
    let failures = 30;
    const works = await worksOn(db, { assistant }, () => ({
      db: meddling("runs.finish-run", (done) => {
        if ((failures -= 1) < 0) return done();
        // The pause that follows is passed at once.
        setImmediate(() => works.clock.advance(10_000));
        return Promise.reject(away);
      }),
    }));
    works.executor.start();
    const { accepted } = await works.ledger.accept({ lane: "a", ...versionOf });
    works.executor.wake();
    expect(await works.ended(accepted.run)).toBe("completed");
    expect(await answersOf(works, accepted.run)).toEqual(["answer to hello"]);
    works.executor.close();
  });

  test("was committed although its answer was lost is known to have ended", async () => {
    let first = true;
    const works = await worksOn(db, { assistant }, () => ({
      db: meddling("runs.finish-run", async (done) => {
        const result = await done();
        if (!first) return result;
        first = false;
        setImmediate(() => works.clock.advance(10_000));
        throw away;
      }),
    }));
    works.executor.start();
    const { accepted } = await works.ledger.accept({ lane: "a", ...versionOf });
    const next = await works.ledger.accept({ lane: "a", ...versionOf });
    works.executor.wake();
    expect(await works.ended(accepted.run)).toBe("completed");
    // Nobody was told which run is next, and it is begun all the same.
    expect(await works.ended(next.accepted.run)).toBe("completed");
    expect(await answersOf(works, accepted.run)).toEqual(["answer to hello"]);
    works.executor.close();
  });

  test("cannot be stored as it is ends as failed, with a notice, and its lane goes on", async () => {
    let first = true;
    const works = await worksOn(db, { assistant }, () => ({
      db: meddling("runs.finish-run", (done) => {
        if (!first) return done();
        first = false;
        setImmediate(() => works.clock.advance(10_000));
        return Promise.reject(new WaybillError("internal", "It cannot be stored."));
      }),
    }));
    works.executor.start();
    const { accepted } = await works.ledger.accept({ lane: "a", ...versionOf });
    const next = await works.ledger.accept({ lane: "a", ...versionOf });
    works.executor.wake();
    expect(await works.ended(accepted.run)).toBe("failed");
    expect(await works.ended(next.accepted.run)).toBe("completed");
    expect(await answersOf(works, accepted.run)).toHaveLength(1);
    expect(works.errors).toContain("a run could not be finished");
    works.executor.close();
  });

  test("is refused since the run was lost changes nothing and ends here", async () => {
    const works = await worksOn(db, { assistant }, () => ({
      db: meddling("runs.finish-run", () => Promise.reject(new WaybillError("run_lost", "It is lost."))),
    }));
    works.executor.start();
    const { accepted } = await works.ledger.accept({ lane: "a", ...versionOf });
    works.executor.wake();
    await works.executor.settle(1_000);
    expect(works.executor.runs()).toEqual([]);
    expect(await answersOf(works, accepted.run)).toEqual([]);
    works.executor.close();
  });
});

describe("a claim", () => {
  test("whose answer was lost has its runs put back, and each is executed once", async () => {
    let first = true;
    let executions = 0;
    const counting = fnAgent(() => {
      executions += 1;
      return "once";
    });
    const works = await worksOn(db, { assistant: counting }, () => ({
      db: meddling("ledger.claim-runs", async (done) => {
        const runs = (await done()) as unknown[];
        if (!first || runs.length === 0) return runs;
        first = false;
        setImmediate(() => works.clock.advance(1_000));
        throw away;
      }),
    }));
    const { accepted } = await works.ledger.accept({ lane: "a", version: counting.version });
    works.executor.start();
    expect(await works.ended(accepted.run)).toBe("completed");
    expect(executions).toBe(1);
    expect(await works.ledger.run(accepted.run ?? "")).toMatchObject({ attempts: 2, fence: 3 });
    works.executor.close();
  });

  test("that is under way when the node stops is waited for", async () => {
    const claimed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const works = await worksOn(db, { assistant }, () => ({
      db: meddling("ledger.claim-runs", async (done) => {
        begun.resolve();
        await claimed.promise;
        return done();
      }),
    }));
    const { accepted } = await works.ledger.accept({ lane: "a", ...versionOf });
    works.executor.start();
    await begun.promise;
    works.executor.close();
    const settled = works.executor.settle(60_000);
    claimed.resolve();
    expect(await settled).toEqual([]);
    expect(await works.ledger.run(accepted.run ?? "")).toMatchObject({ state: "completed" });
  });
});

describe("a run", () => {
  test("whose stream cannot be opened is answered all the same, and so are its neighbours", async () => {
    const works = await worksOn(db, { assistant }, ({ streams }) => {
      const open: StreamStore["open"] = (head) => {
        if (head.run === refused) throw new WaybillError("stream_closed", "It has ended.");
        return streams.open(head);
      };
      return { streams: { open } as Partial<StreamStore> as StreamStore };
    });
    const one = await works.ledger.accept({ lane: "a", ...versionOf });
    const other = await works.ledger.accept({ lane: "b", ...versionOf });
    const refused = one.accepted.run;
    works.executor.start();
    expect(await works.ended(one.accepted.run)).toBe("completed");
    expect(await works.ended(other.accepted.run)).toBe("completed");
    expect(await answersOf(works, one.accepted.run)).toEqual(["answer to hello"]);
    expect(works.errors).toEqual(["a run goes on without its stream"]);
    works.executor.close();
  });

  test("that is stopped before its agent was called ends, though the agent would hang", async () => {
    const hanging = { ...fnAgent(() => "unused"), run: () => new Promise<void>(() => {}) };
    const works = await worksOn(db, { assistant: hanging }, (services) => ({
      hear: {
        ...services.hear,
        runChanged(run, address, state) {
          // The first moment at which anybody could.
          if (state === "running") queueMicrotask(() => works.executor.abort(run, "shutdown"));
          services.hear.runChanged(run, address, state);
        },
      },
    }));
    const { accepted } = await works.ledger.accept({ lane: "a", version: hanging.version });
    // The signal is given before the agent runs; its grace begins when it would.
    const tick = setInterval(() => works.clock.advance(3_000), 5);
    works.executor.start();
    expect(await works.ended(accepted.run)).toBe("interrupted");
    clearInterval(tick);
    works.executor.close();
  });

  test("whose deadline cannot be stored at first is stopped when it can", async () => {
    let first = true;
    const hanging = fnAgent(
      (ctx) =>
        new Promise<string>((_, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
      { limits: { wallMs: 5_000 } },
    );
    const works = await worksOn(db, { assistant: hanging }, () => ({
      db: meddling(askAbort.name, (done) => {
        if (!first) return done();
        first = false;
        setImmediate(() => works.clock.advance(1_000));
        return Promise.reject(away);
      }),
      hear: {
        ...quiet,
        runChanged(run, address, state) {
          if (state === "running") works.clock.advance(5_000);
          else ends.resolve(`${run} ${address} ${state}`);
        },
      },
    }));
    const ends = Promise.withResolvers<string>();
    const { accepted } = await works.ledger.accept({
      lane: "a",
      version: hanging.version,
      limits: { wallMs: 5_000 },
    });
    works.executor.start();
    expect(await ends.promise).toContain("failed");
    expect(await works.ledger.run(accepted.run ?? "")).toMatchObject({ reason: "deadline_exceeded" });
    works.executor.close();
  });

  test("with a NUL in its answer is answered without it", async () => {
    const works = await worksOn(db, { assistant: fnAgent(() => "be\0fore") });
    const { accepted } = await works.ledger.accept({
      lane: "a",
      version: works.executor.versions[0]?.version,
    });
    works.executor.start();
    expect(await works.ended(accepted.run)).toBe("completed");
    expect(await answersOf(works, accepted.run)).toEqual(["be\uFFFDfore"]);
    works.executor.close();
  });
});

const quiet = { posted() {}, opsAdded() {}, runsReady() {} };

describe("recovery", () => {
  async function leave(lanes: string[]) {
    const works = await worksOn(db, { assistant });
    const dead = await works.ledger.register([{ name: "assistant", ...versionOf }]);
    for (const lane of lanes) await works.ledger.accept({ lane, ...versionOf });
    const claims = await works.ledger.claim(dead, 10, [{ name: "assistant", ...versionOf }]);
    expect(claims).toHaveLength(lanes.length);
    await works.ledger.expire(dead);
    return { works, claims };
  }

  test("of a run whose channel has gone from the settings ends it, with a notice that is blocked", async () => {
    const { works, claims } = await leave(["a"]);
    const services = { ...works.services, senders: new Map() };
    expect(await recoverRuns(services, false)).toMatchObject({ interrupted: 1 });
    expect(await works.ledger.run(claims[0]?.run.id ?? "")).toMatchObject({ state: "interrupted" });
    expect(await works.ledger.deliveries()).toMatchObject([{ kind: "notice", state: "blocked" }]);
  });

  test("of a run that cannot be settled is left to the next round and holds up no other", async () => {
    const { works, claims } = await leave(["a", "b", "c"]);
    const bad = claims[1]?.run.id;
    const stubborn: Database = {
      ...through(db),
      do: (command, input) => {
        const { fence } = input as { fence?: { run: string } };
        if (fence?.run === bad) return Promise.reject(new WaybillError("internal", "It cannot be stored."));
        return db.do(command, input);
      },
    };
    expect(await recoverRuns({ ...works.services, db: stubborn }, false)).toMatchObject({ interrupted: 2 });
    expect(works.errors).toEqual(["a run of a dead process could not be settled"]);
    expect(await recoverRuns(works.services, false)).toMatchObject({ interrupted: 1 });
  });

  test("of more runs than are settled at once settles all", async () => {
    const works = await worksOn(db, { assistant });
    const dead = await works.ledger.register([{ name: "assistant", ...versionOf }]);
    const lanes = Array.from({ length: 230 }, () => randomUUID());
    await Promise.all(lanes.map((lane) => works.ledger.accept({ lane, ...versionOf })));
    await works.ledger.claim(dead, 300, [{ name: "assistant", ...versionOf }]);
    await works.ledger.expire(dead);
    expect(await recoverRuns(works.services, false)).toMatchObject({ interrupted: 230 });
    expect(await recoverRuns(works.services, false)).toMatchObject({ interrupted: 0 });
  });

  test("of a run that had taken in a later message gives that message to the next attempt, once", async () => {
    const steered = fnAgent(
      async (ctx) => {
        const [first, second] = [await ctx.takeSteering(), await ctx.takeSteering()];
        return `took ${first.length}, then ${second.length}`;
      },
      { recovery: "retry", steerable: true },
    );
    const works = await worksOn(db, { assistant: steered }, () => ({ followUp: "steer" }));
    const has = [{ name: "assistant", version: steered.version }];
    const dead = await works.ledger.register(has);
    const { version } = steered;
    const { accepted } = await works.ledger.accept({ lane: "a", version, recovery: "retry" });
    const later = await works.ledger.accept({ lane: "a", version, recovery: "retry" });
    const [claim] = await works.ledger.claim(dead, 1, has);
    expect(await works.ledger.absorb(claim!)).toMatchObject([{ run: later.accepted.run }]);
    await works.ledger.expire(dead);
    expect(await recoverRuns(works.services, false)).toMatchObject({ requeued: 1 });
    works.executor.start();
    expect(await works.ended(accepted.run)).toBe("completed");
    expect(await answersOf(works, accepted.run)).toEqual(["took 1, then 0"]);
    works.executor.close();
  });

  test("stops at a store that is away, so that the start fails rather than leaves them", async () => {
    const { works } = await leave(["a"]);
    const gone = meddling("runs.finish-run", () => Promise.reject(away));
    await expect(recoverRuns({ ...works.services, db: gone }, false)).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});
