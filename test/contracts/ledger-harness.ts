/** Drives the ledger by its commands, as several nodes on one store do, without agents or channels. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { webAccount, web } from "../../src/channels/web/web-channel.ts";
import type { Database } from "../../src/db/database.ts";
import { openPostgres } from "../../src/db/postgres/open-postgres.ts";
import { openSqlite } from "../../src/db/sqlite/open-sqlite.ts";
import { planDelivery } from "../../src/deliveries/plan-delivery.ts";
import type { Place } from "../../src/deliveries/post-message.ts";
import type { NewDelivery } from "../../src/deliveries/record-delivery.ts";
import { databaseTarget } from "../../src/gateway/open-database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { noCrash } from "../../src/kernel/crash-points.ts";
import { systemIds } from "../../src/kernel/ids.ts";
import { silentLogger } from "../../src/kernel/logger.ts";
import { claimRuns } from "../../src/ledger/claim-runs.ts";
import type { EndState } from "../../src/ledger/end-run.ts";
import { registerNode } from "../../src/ledger/nodes.ts";
import type { ClaimedRun, Fence, RecoveryPolicy, RunLimits } from "../../src/ledger/run.ts";
import { absorbTurns } from "../../src/runs/absorb-turns.ts";
import { finishRun, type FinishOutput } from "../../src/runs/finish-run.ts";
import { postFromRun } from "../../src/runs/post-from-run.ts";
import { recoverRuns } from "../../src/runs/recover-runs.ts";
import type { RunServices } from "../../src/runs/services.ts";
import { startJob } from "../../src/runs/start-job.ts";
import { acceptMessage, type AcceptOutput, type FollowUp } from "../../src/turns/accept-message.ts";
import { channelPorts } from "../support/channel-ports.ts";
import { expireLease } from "./ledger-commands.ts";

const commandsUrl = new URL("./ledger-commands.ts", import.meta.url).href;

export function openLedger(databaseUrl: string): Promise<Database> {
  const target = databaseTarget(databaseUrl, tmpdir());
  const common = { clock: systemClock, log: silentLogger };
  if (target.dialect === "postgres") return openPostgres({ url: target.url, ...common });
  return openSqlite({ file: target.url, commandsUrl, ...common });
}

export const agents = [
  { name: "assistant", version: "1" },
  { name: "worker", version: "1" },
];

const senders = new Map([["web", web().connect(channelPorts()).sender]]);

export interface Claim {
  node: string;
  run: ClaimedRun;
  fence: Fence;
}

export interface Asked {
  lane: string;
  agent?: string;
  version?: string;
  recovery?: RecoveryPolicy;
  background?: boolean;
  followUp?: FollowUp;
  sender?: string;
  id?: string;
  limits?: RunLimits;
}

/** One tenant of a store: tests of one store do not see each other. */
export class LedgerHarness {
  readonly db: Database;
  readonly tenant: string;

  constructor(db: Database, tenant = `t-${randomUUID()}`) {
    this.db = db;
    this.tenant = tenant;
  }

  place(lane: string): Place {
    const conversation = lane.replace(`web:${webAccount}/`, "");
    const address = `web:${webAccount}/${conversation}`;
    return { address, parent: null, channel: "web", account: webAccount, kind: "dm" };
  }

  async register(has = agents, leaseMs = 3_600_000): Promise<string> {
    const boot = systemIds.next("boot");
    await this.db.do(registerNode, {
      tenant: this.tenant,
      boot,
      host: "test",
      pid: process.pid,
      leaseMs,
      agents: has,
    });
    return boot;
  }

  plan(kind: NewDelivery["kind"], run: string | null, turn: string, place: Place, text: string): NewDelivery {
    const wish = { kind, run, turn, place, text, rule: "turn" } as const;
    return planDelivery(wish, { tenant: this.tenant, senders, ids: systemIds, allows: () => true });
  }

  accept(asked: Asked): Promise<AcceptOutput> {
    const { lane, agent = "assistant", version = "1", recovery = "notify", background = false } = asked;
    const place = this.place(lane);
    const sender = { id: asked.sender ?? "person", name: null, principal: null };
    const [turn, run, stream] = [systemIds.next("turn"), systemIds.next("run"), systemIds.next("str")];
    const message = systemIds.next("msg");
    const id = asked.id ?? message;
    const parts = [{ type: "text" as const, text: "hello" }];
    return this.db.do(acceptMessage, {
      tenant: this.tenant,
      key: { scope: `message:${place.address}`, key: id, digest: "d" },
      place,
      message: { id: message, platformId: id, text: "hello", parts: JSON.stringify({ v: 1, parts }) },
      sender,
      followUp: asked.followUp ?? "queue",
      caps: [],
      capReply: null,
      acknowledge: background ? this.plan("say", run, turn, place, "on it") : null,
      slots: false,
      run: {
        tenant: this.tenant,
        id: run,
        agent,
        agentVersion: version,
        turn,
        foreground: !background,
        lane: place.address,
        state: "queued",
        recovery,
        parent: null,
        root: run,
        stream,
        streamRoot: stream,
        trace: systemIds.next("trace"),
        causedBy: null,
        origin: place.address,
        replyTo: place.address,
        scope: place.address,
        input: { v: 1, text: "hello", parts, sender, message, kind: "dm" },
        limits: asked.limits ?? {},
      },
    });
  }

  async claim(node: string, limit = 10, has = agents): Promise<Claim[]> {
    const runs = await this.db.do(claimRuns, { tenant: this.tenant, owner: node, agents: has, limit });
    return runs.map((run) => ({
      node,
      run,
      fence: { tenant: this.tenant, run: run.id, owner: node, fence: run.fence },
    }));
  }

  /** Ends a run as an executor does: `completed` posts an answer, `silent` none, `interrupted` and `failed` a notice. */
  finish({ run, fence }: Claim, how: EndState | "silent"): Promise<FinishOutput> {
    const state = how === "silent" ? "completed" : how;
    const kind = how === "completed" ? "final" : how === "interrupted" || how === "failed" ? "notice" : null;
    const place = this.place(run.replyTo);
    return this.db.do(finishRun, {
      fence,
      lane: run.foreground ? run.lane : null,
      takeOver: false,
      state,
      reason: how === "completed" || how === "silent" ? null : how,
      detail: null,
      usage: null,
      delivery: kind === null ? null : this.plan(kind, run.id, run.turn, place, `${run.id} ${how}`),
      removePreview: null,
      scope: run.scope,
      questions: [],
      answer: null,
      tokenSubjects: [],
    });
  }

  say({ run, fence }: Claim): Promise<{ released: string[] }> {
    const delivery = this.plan("say", run.id, run.turn, this.place(run.replyTo), "said");
    const { message } = delivery;
    const said = {
      role: "assistant" as const,
      text: message.text,
      parts: null,
      sender: null,
      origin: message.id,
      address: run.replyTo,
      run: run.id,
    };
    return this.db.do(postFromRun, { fence, delivery, scope: run.scope, said });
  }

  async start({ run, fence }: Claim): Promise<string> {
    const [id, turn, stream] = [systemIds.next("run"), systemIds.next("turn"), systemIds.next("str")];
    await this.db.do(startJob, {
      fence,
      caps: [],
      job: {
        tenant: this.tenant,
        id,
        agent: "worker",
        agentVersion: "1",
        turn,
        lane: run.lane,
        recovery: "notify",
        parent: run.id,
        root: id,
        stream,
        streamRoot: stream,
        trace: run.trace,
        causedBy: run.id,
        origin: run.origin,
        replyTo: run.replyTo,
        scope: run.scope,
        input: run.input,
        limits: {},
      },
    });
    return id;
  }

  absorb({ run, fence }: Claim): Promise<{ id: string }[]> {
    const { lane, agent, input } = run;
    return this.db.do(absorbTurns, { fence, lane, agent, sender: input.sender.id });
  }

  /** Makes a node's lease run out; `recover` of another one then takes it for dead. */
  async expire(node: string): Promise<void> {
    await this.db.do(expireLease, { tenant: this.tenant, boot: node });
  }

  recover(node: string, everybody = false): ReturnType<typeof recoverRuns> {
    return recoverRuns(this.services(node), everybody);
  }

  services(node: string): RunServices {
    const nothing = (): void => {};
    const used: Partial<RunServices> = {
      tenant: this.tenant,
      owner: node,
      db: this.db,
      ids: systemIds,
      clock: systemClock,
      log: silentLogger,
      reach: noCrash,
      locale: "en",
      senders,
      allows: () => true,
      hear: { posted: nothing, runChanged: nothing, opsAdded: nothing, runsReady: nothing },
    };
    return used as RunServices;
  }

  runs() {
    return this.db.query((k) =>
      k.selectFrom("runs").selectAll().where("tenant_id", "=", this.tenant).orderBy("id"),
    );
  }

  async run(id: string) {
    const rows = await this.runs();
    const found = rows.find((row) => row.id === id);
    if (!found) throw new Error(`There is no run ${id}.`);
    return found;
  }

  events() {
    return this.db.query((k) =>
      k
        .selectFrom("run_events")
        .select(["run_id", "event_seq", "kind"])
        .where("tenant_id", "=", this.tenant)
        .orderBy("run_id")
        .orderBy("event_seq"),
    );
  }

  deliveries() {
    return this.db.query((k) =>
      k
        .selectFrom("deliveries")
        .select(["run_id", "kind", "state", "address", "message_id"])
        .where("tenant_id", "=", this.tenant),
    );
  }

  messages() {
    return this.db.query((k) =>
      k
        .selectFrom("messages")
        .select(["address", "post_seq", "run_id", "role", "text"])
        .where("tenant_id", "=", this.tenant)
        .orderBy("address")
        .orderBy("post_seq"),
    );
  }
}
