import { z } from "zod";
import { formatAddress, parseAddress } from "../../address/address.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { readRunEvents } from "../../ledger/events.ts";
import { listRuns, readRun, type RunRecord } from "../../ledger/read-runs.ts";
import type { WireAccepted, WireRunEvent } from "../api.ts";
import { beforeOf, encodePlace, pageOf } from "../paging.ts";
import type { HttpPorts } from "../ports.ts";
import {
  checkId,
  idParams,
  json,
  limitQuery,
  route,
  shortText,
  stateList,
  timeQuery,
  type Routes,
} from "../route.ts";
import { iso, toWireRun } from "../wire.ts";

const states = [
  "staged",
  "queued",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
] as const;

/** @throws WaybillError `invalid_id`, `unknown_run` */
export async function runOf(ports: HttpPorts, id: string): Promise<RunRecord> {
  const run = await readRun(ports.db, ports.tenant, checkId(id));
  if (!run) throw new WaybillError("unknown_run", `There is no run ${id}.`, { run: id });
  return run;
}

export function runRoutes(routes: Routes, ports: HttpPorts): void {
  listRoute(routes, ports);
  route(
    routes,
    {
      method: "get",
      path: "/v1/runs/{id}",
      summary: "One run.",
      params: idParams,
      answers: { 200: { description: "The run." } },
      errors: ["unknown_run"],
    },
    async (c, { params }) => json(c, 200, toWireRun(await runOf(ports, params.id))),
  );
  eventsRoute(routes, ports);
  actions(routes, ports);
}

function listRoute(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/runs",
      summary: "The ledger, newest first.",
      query: z.strictObject({
        state: stateList(states),
        agent: shortText(64).optional(),
        address: z.string().optional(),
        text: shortText(200).optional(),
        before: timeQuery,
        limit: limitQuery,
        next: z.string().optional(),
      }),
      answers: { 200: { description: "A page of runs." } },
      errors: ["invalid_address"],
    },
    async (c, { query }) => {
      const rows = await listRuns(ports.db, ports.tenant, {
        states: query.state,
        agent: query.agent,
        address: query.address === undefined ? undefined : formatAddress(parseAddress(query.address)),
        text: query.text,
        before: beforeOf(query.next, query.before),
        limit: query.limit + 1,
      });
      return json(
        c,
        200,
        pageOf(rows, query.limit, (row) => encodePlace([row.createdAt, row.id]), toWireRun),
      );
    },
  );
}

function eventsRoute(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/runs/{id}/events",
      summary: "What happened to a run, in order.",
      params: idParams,
      query: z.strictObject({
        limit: limitQuery,
        next: z
          .string()
          .regex(/^\d{1,15}$/, "is not the next of a page of this list")
          .optional(),
      }),
      answers: { 200: { description: "A page of events." } },
      errors: ["unknown_run"],
    },
    async (c, { params, query }) => {
      const run = await runOf(ports, params.id);
      const after = Number(query.next ?? 0);
      const rows = await readEvents(ports, run.id, after, query.limit + 1);
      return json(
        c,
        200,
        pageOf(
          rows,
          query.limit,
          (row) => String(row.seq),
          (row) => row,
        ),
      );
    },
  );
}

export async function readEvents(
  ports: HttpPorts,
  run: string,
  after: number,
  limit: number,
): Promise<WireRunEvent[]> {
  const rows = await ports.db.read(readRunEvents, { tenant: ports.tenant, run, after, limit });
  return rows.map((row) => ({
    seq: row.event_seq,
    kind: row.kind,
    data: row.data_json === null ? null : (JSON.parse(row.data_json) as Record<string, unknown>),
    at: iso(row.at),
  }));
}

function actions(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "post",
      path: "/v1/runs/{id}/cancel",
      summary: "Asks a run to end. It stays cancelled, whatever it still brings.",
      params: idParams,
      answers: { 202: { description: "How: it had not begun and is cancelled, or it was asked to end." } },
      errors: ["unknown_run", "run_finished"],
    },
    async (c, { params }) => json(c, 202, await ports.cancelRun(checkId(params.id), "cancel")),
  );
  route(
    routes,
    {
      method: "post",
      path: "/v1/runs/{id}/retry",
      summary: "Asks again what a run was asked that failed, was interrupted or cancelled.",
      params: idParams,
      answers: { 202: { description: "The new turn and run." } },
      errors: ["unknown_run", "run_not_retryable"],
    },
    async (c, { params }) => {
      const { turn, run, stream, address, message, outcome } = await ports.retryRun(checkId(params.id));
      return json(c, 202, { turn, run, stream, address, message, outcome } satisfies WireAccepted);
    },
  );
}
