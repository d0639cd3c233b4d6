import { z } from "zod";
import type { WrittenSchedule } from "../../schedules/check-schedule.ts";
import type { ShownSchedule } from "../../schedules/schedules.ts";
import { parseAccount } from "../../schedules/target.ts";
import { listSlots, slotNames } from "../../turns/slots.ts";
import type { WireSchedule, WireSlot } from "../api.ts";
import { invalidRequest } from "../body.ts";
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
import { iso } from "../wire.ts";

const states = ["active", "disabled", "done", "removed"] as const;

const addBody = z.strictObject({
  id: shortText(64).optional(),
  cron: shortText(200).optional(),
  timeZone: shortText(100).optional(),
  at: timeQuery,
  inMs: z.number("is a number of milliseconds").int("is a whole number").min(0, "is 0 or more").optional(),
  to: shortText(14_000).optional(),
  account: shortText(4_700).optional(),
  agent: shortText(64).optional(),
  text: shortText(10_000),
});

const changeBody = z
  .strictObject({
    state: z.enum(["active", "disabled"]).optional(),
    to: shortText(14_000).optional(),
    account: shortText(4_700).optional(),
    text: shortText(10_000).optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "says nothing: give state, to or text");

/** What comes by the clock, and the slots that it may go to. */
export function scheduleRoutes(routes: Routes, ports: HttpPorts): void {
  readRoutes(routes, ports);
  addRoute(routes, ports);
  changeRoutes(routes, ports);
  slotRoutes(routes, ports);
}

function readRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/schedules",
      summary: "Schedules with their next and last times, the newest first.",
      query: z.strictObject({ state: stateList(states), limit: limitQuery, next: z.string().optional() }),
      answers: { 200: { description: "A page of schedules." } },
    },
    async (c, { query }) => {
      const before = beforeOf(query.next, undefined);
      const filter = { states: query.state, before, limit: query.limit + 1 };
      const rows = await ports.schedules.list(filter);
      const placeOf = (row: ShownSchedule): string => encodePlace([row.createdAt, row.id]);
      return json(c, 200, pageOf(rows, query.limit, placeOf, toWireSchedule));
    },
  );
  route(
    routes,
    {
      method: "get",
      path: "/v1/schedules/{id}",
      summary: "One schedule.",
      params: idParams,
      answers: { 200: { description: "The schedule." } },
      errors: ["unknown_schedule"],
    },
    async (c, { params }) => json(c, 200, toWireSchedule(await ports.schedules.show(checkId(params.id)))),
  );
}

function addRoute(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "post",
      path: "/v1/schedules",
      summary: "Makes a schedule: by cron, or for once. The same id with the same content gives what stands.",
      body: addBody,
      answers: { 201: { description: "The schedule." } },
      errors: ["idempotency_conflict"],
    },
    async (c, { body }) => {
      const { at, inMs, ...rest } = body;
      if (at !== undefined && inMs !== undefined) {
        throw invalidRequest([{ field: "inMs", rule: "or at: give one of the two" }]);
      }
      const once = at ?? (inMs === undefined ? undefined : ports.clock.now() + inMs);
      const written: WrittenSchedule = { ...rest, ...(once === undefined ? {} : { at: once }) };
      return json(c, 201, toWireSchedule(await ports.schedules.add(written)));
    },
  );
}

function changeRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "patch",
      path: "/v1/schedules/{id}",
      summary: "Disables or enables a schedule, or gives it another destination; what it holds goes there.",
      params: idParams,
      body: changeBody,
      answers: { 200: { description: "The schedule." } },
      errors: ["unknown_schedule"],
    },
    async (c, { params, body }) =>
      json(c, 200, toWireSchedule(await ports.schedules.change(checkId(params.id), body))),
  );
  route(
    routes,
    {
      method: "post",
      path: "/v1/schedules/{id}/fire",
      summary: "Fires an active schedule now, as at its time; its times by cron stay as they are.",
      params: idParams,
      answers: { 202: { description: "The schedule; what it leads to is in it once it was fired." } },
      errors: ["unknown_schedule", "invalid_request"],
    },
    async (c, { params }) => json(c, 202, toWireSchedule(await ports.schedules.fire(checkId(params.id)))),
  );
  route(
    routes,
    {
      method: "delete",
      path: "/v1/schedules/{id}",
      summary: "Removes a schedule that does not stand in the settings.",
      params: idParams,
      answers: { 200: { description: "Its id." } },
      errors: ["unknown_schedule", "invalid_request"],
    },
    async (c, { params }) => {
      const id = checkId(params.id);
      await ports.schedules.remove(id);
      return json(c, 200, { schedule: id });
    },
  );
}

function slotRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/slots",
      summary: "The places that accounts remember for sends that belong to no turn.",
      answers: { 200: { description: "All of them; there is one page." } },
    },
    async (c) => {
      const slots = await listSlots(ports.db, ports.tenant);
      const items = slots.map(({ at, ...slot }): WireSlot => ({ ...slot, at: iso(at) }));
      return json(c, 200, { items, next: null });
    },
  );
  route(
    routes,
    {
      method: "delete",
      path: "/v1/slots/{account}/{slot}",
      summary:
        "Takes the place out of a slot, such as slack:T1; the other slot stays, and the next message fills it.",
      params: z.object({ account: z.string(), slot: z.enum(slotNames) }),
      answers: { 200: { description: "The place that stood there, or null." } },
      errors: ["invalid_request"],
    },
    async (c, { params: { account, slot } }) => {
      if (!parseAccount(account)) {
        throw invalidRequest([{ field: "account", rule: "is channel and account, as in slack:T1" }]);
      }
      return json(c, 200, { account, slot, address: await ports.clearSlot(account, slot) });
    },
  );
}

function toWireSchedule(schedule: ShownSchedule): WireSchedule {
  const { trace: _trace, nextAt, lastAt, createdAt, ...rest } = schedule;
  return { ...rest, nextAt: iso(nextAt), lastAt: iso(lastAt), createdAt: iso(createdAt) };
}
