/** Grants on every store: what is kept of a token, how long it holds, and that any node knows it. */
import { describe, expect, onTestFinished, test } from "vitest";
import { gate, startHttpGateway } from "../../test/support/http-gateway.ts";
import { eachStore } from "../../test/support/stores.ts";
import { agent } from "../agents/agent-factory.ts";
import type { RunContext } from "../agents/agent.ts";
import { sha256 } from "../kernel/digest.ts";
import { asWaybillError } from "../kernel/errors.ts";
import { readGrant, readMember } from "./grants.ts";

const key = Buffer.alloc(32, 3).toString("base64url");
const day = 24 * 3_600_000;

eachStore((store) => {
  /** A gateway whose agent hands its context to the test and waits. */
  async function lending() {
    const { databaseUrl, dispose } = await store.fresh();
    const contexts: RunContext[] = [];
    const begun = [gate(), gate()];
    const done = gate();
    const lender = agent.fn(async (ctx) => {
      contexts.push(ctx);
      begun[contexts.length - 1]!.open();
      await done.opened;
    });
    const config = { agents: { lender } };
    const gateway = await startHttpGateway(config, { databaseUrl, key });
    const others: (() => Promise<void>)[] = [];
    onTestFinished(async () => {
      done.open();
      for (const stop of others) await stop();
      await gateway.stop();
      await dispose();
    });
    const ask = async (conversation: string) => {
      const before = contexts.length;
      const { body } = await gateway.post("/v1/messages", { conversation, text: "hello" });
      await begun[before]!.opened;
      return { ctx: contexts[before]!, run: body.run! };
    };
    const node = async () => {
      const other = await startHttpGateway(config, { databaseUrl, key });
      others.push(other.stop);
      return other;
    };
    return { gateway, ask, done, node };
  }

  describe("a grant", () => {
    test("is stored without its token, and has the runs that were added to it", async () => {
      const { gateway, ask, done } = await lending();
      const { db, services } = gateway.running.parts;
      const dm = await ask("dm");
      const { token } = await dm.ctx.grant("process:1", "turn-a");
      expect(token).toMatch(/^wbg_[A-Za-z0-9_-]{43}$/);
      expect((await dm.ctx.grant("process:1")).token).toBe(token);
      const rows = await db.query((k) => k.selectFrom("grants").selectAll());
      expect(rows).toMatchObject([{ token_hash: sha256(token), made_for: "process:1" }]);
      expect(JSON.stringify(rows)).not.toContain(token.slice(4));

      const at = { now: Date.now(), graceMs: 60_000 };
      const grant = (await readGrant(db, services.tenant, sha256(token), at))!;
      expect(grant).toMatchObject({ holder: "process:1", expired: false, onePlace: true });
      expect(grant.runs).toMatchObject([
        { id: dm.run, replyTo: "web:main/dm", finishedAt: null, kind: "dm", agentTurn: "turn-a" },
      ]);
      const room = await ask("room");
      await room.ctx.grant("process:1");
      const both = (await readGrant(db, services.tenant, sha256(token), at))!;
      expect([both.onePlace, both.runs.length]).toEqual([false, 2]);

      done.open();
      await gateway.ended(dm.run);
      await gateway.ended(room.run);
      const later = { now: Date.now() + 61_000, graceMs: 60_000 };
      const ended = (await readGrant(db, services.tenant, sha256(token), later))!;
      expect([ended.onePlace, ended.runs]).toEqual([false, []]);
      expect(await readMember(db, services.tenant, grant.id, dm.ctx.run.turn)).toEqual({
        run: dm.run,
        replyTo: "web:main/dm",
      });
      expect(await readMember(db, services.tenant, grant.id, "turn_other")).toBeNull();
    });

    test("expires a day after its last run was added, but not while one of them is live", async () => {
      const { gateway, ask, done } = await lending();
      const { db, services } = gateway.running.parts;
      const { ctx, run } = await ask("dm");
      const hash = sha256((await ctx.grant("process:1")).token);
      const at = (ms: number) =>
        readGrant(db, services.tenant, hash, { now: Date.now() + ms, graceMs: 60_000 });
      expect((await at(2 * day))?.expired).toBe(false);
      done.open();
      await gateway.ended(run);
      expect((await at(day - 60_000))?.expired).toBe(false);
      expect((await at(day + 60_000))?.expired).toBe(true);
    });

    test("is not given to a run that has ended, nor to a holder without a proper name", async () => {
      const { gateway, ask, done } = await lending();
      const { ctx, run } = await ask("dm");
      const codeOf = (holder: string) =>
        ctx.grant(holder).then(
          () => "ok",
          (thrown: unknown) => asWaybillError(thrown).code,
        );
      expect(await codeOf("")).toBe("invalid_request");
      expect(await codeOf("two words")).toBe("invalid_request");
      done.open();
      await gateway.ended(run);
      expect(await codeOf("process:1")).toBe("run_lost");
    });

    if (store.name !== "postgres") return; // On SQLite there is one node.
    test("is answered by any node", async () => {
      const { gateway, ask, node } = await lending();
      const other = await node();
      const { ctx, run } = await ask("dm");
      const { token } = await ctx.grant("process:1");
      const held = { authorization: `Bearer ${token}` };
      for (const { post } of [gateway, other]) {
        const { status, body } = await post<object>(
          "/v1/sends",
          { text: "x", turn_conversation: ctx.echo },
          held,
        );
        expect([status, body]).toMatchObject([202, { address: "web:main/dm", run }]);
      }
    });
  });
});
