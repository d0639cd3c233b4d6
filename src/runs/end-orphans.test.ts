/** A run that waits for an agent which nobody has any more is told of, and what waits behind it goes on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { worksOn } from "../../test/contracts/executor-harness.ts";
import { eachStore } from "../../test/support/stores.ts";
import { openDatabase, databaseTarget } from "../gateway/open-database.ts";
import { agent } from "../agents/agent-factory.ts";
import { systemClock } from "../kernel/clock.ts";
import { silentLogger } from "../kernel/logger.ts";
import { testGateway } from "../test-kit/test-gateway.ts";
import { endOrphans } from "./recover-runs.ts";

const echo = agent.fn((ctx) => `You said: ${ctx.text}`);

test("an agent that was taken out of the settings blocks no lane after the next start", async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), "waybill-orphans-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const begun = Promise.withResolvers<void>();
  const hang = agent.fn((ctx) => {
    begun.resolve();
    return new Promise<string>((_, reject) => ctx.signal.addEventListener("abort", reject));
  });
  {
    await using t = await testGateway({ agents: { echo, hang } }, { dataDir });
    await t.post("one", { agent: "hang", id: "1" });
    await begun.promise;
    await t.post("two", { agent: "hang", id: "2" });
    await t.post("three", { agent: "hang", id: "3" });
    await (await t.gateway()).stop({ graceMs: 0 });
  }
  await using t = await testGateway({ agents: { echo } }, { dataDir });
  expect((await t.say("four", { id: "4" })).text).toBe("You said: four");
  const runs = (await t.runs()).map(({ state, reason }) => [state, reason]);
  expect(runs).toEqual([
    ["interrupted", "shutdown"],
    ["failed", "unknown_agent"],
    ["failed", "unknown_agent"],
    ["completed", null],
  ]);
  expect((await t.posts()).map(({ notice, run }) => [notice, run !== null])).toEqual([
    ["run.interrupted", true],
    ["run.failed", true],
    ["run.failed", true],
    [null, true],
  ]);
});

eachStore((store) => {
  test("what another node has, or has not waited long enough, is left alone", async () => {
    const fresh = await store.fresh();
    const open = { clock: systemClock, log: silentLogger };
    const db = await openDatabase(databaseTarget(fresh.databaseUrl, "unused"), open);
    onTestFinished(async () => {
      await db.close();
      await fresh.dispose();
    });
    const works = await worksOn(db, { echo });
    await works.ledger.register([{ name: "elsewhere", version: "1" }]);
    const there = await works.ledger.accept({ lane: "a", agent: "elsewhere" });
    const gone = await works.ledger.accept({ lane: "b", agent: "gone" });
    expect(await endOrphans(works.services, 60_000)).toBe(0);
    works.clock.advance(1_000);
    expect(await endOrphans(works.services, 0)).toBe(1);
    expect(await works.ledger.run(gone.accepted.run ?? "")).toMatchObject({ state: "failed" });
    expect(await works.ledger.run(there.accepted.run ?? "")).toMatchObject({ state: "queued" });
  });
});
