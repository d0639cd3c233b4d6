import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import { RunningGateway } from "../gateway/create-gateway.ts";
import { claimRuns } from "./claim-runs.ts";

eachStore((store) => {
  test("a claim takes as many runs as it was told and no more, the longest waiting first", async () => {
    const fresh = await store.fresh();
    const dataDir = await mkdtemp(path.join(tmpdir(), "waybill-claim-"));
    const idle = agent.fn(async () => "done");
    const gateway = new RunningGateway({ agents: { idle } }, { dataDir, databaseUrl: fresh.databaseUrl });
    await gateway.start();
    const { db, inbox, executor, services } = gateway.parts;
    executor.close();
    const accepted: (string | null)[] = [];
    for (let n = 0; n < 200; n += 1) {
      const place = {
        address: `web:main/c${n}`,
        parent: null,
        channel: "web",
        account: "main",
        kind: "dm",
      } as const;
      const person = { sender: { id: "u", name: null }, principal: null };
      const { run } = await inbox.accept({ place, id: `m${n}`, ...person, text: "hi", parts: [] });
      accepted.push(run);
    }
    const input = { tenant: services.tenant, owner: services.owner, agents: [...executor.versions] };
    const first = await db.do(claimRuns, { ...input, limit: 3 });
    const second = await db.do(claimRuns, { ...input, limit: 10 });
    const claimed = [...first, ...second].map((run) => run.id);
    expect([first.length, second.length]).toEqual([3, 10]);
    expect(new Set(claimed)).toEqual(new Set(accepted.slice(0, 13)));
    await gateway.stop(0);
    await fresh.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });
});
