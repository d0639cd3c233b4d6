import { z } from "zod";
import { formatAddress, parseAddress } from "../../address/address.ts";
import { listDeliveries, readDelivery } from "../../deliveries/read-deliveries.ts";
import { WaybillError } from "../../kernel/errors.ts";
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
import { toWireDelivery } from "../wire.ts";

const states = [
  "pending",
  "sending",
  "delivered",
  "unknown",
  "blocked",
  "held",
  "dead",
  "withdrawn",
] as const;

export function deliveryRoutes(routes: Routes, ports: HttpPorts): void {
  listRoute(routes, ports);
  route(
    routes,
    {
      method: "get",
      path: "/v1/deliveries/{id}",
      summary: "One delivery: what was sent, what proves it, and why it went there.",
      params: idParams,
      answers: { 200: { description: "The delivery." } },
      errors: ["unknown_delivery"],
    },
    async (c, { params }) => {
      const id = checkId(params.id);
      const delivery = await readDelivery(ports.db, ports.tenant, id);
      if (!delivery) {
        throw new WaybillError("unknown_delivery", `There is no delivery ${id}.`, { delivery: id });
      }
      return json(c, 200, toWireDelivery(delivery));
    },
  );
  route(
    routes,
    {
      method: "post",
      path: "/v1/deliveries/{id}/retry",
      summary:
        "Sends again what was given up, blocked, held, or is unknown; `to` completes what has no address.",
      params: idParams,
      body: z.strictObject({ to: shortText(14_000).optional() }),
      bodyOptional: true,
      answers: { 202: { description: "The state that it has now." } },
      errors: [
        "unknown_delivery",
        "delivery_not_retryable",
        "no_destination",
        "invalid_address",
        "destination_not_allowed",
      ],
    },
    async (c, { params, body }) => {
      const id = checkId(params.id);
      return json(c, 202, { delivery: id, ...(await ports.retryDelivery(id, body.to)) });
    },
  );
}

function listRoute(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/deliveries",
      summary: "Deliveries, newest first.",
      query: z.strictObject({
        run: z.string().optional(),
        state: stateList(states),
        address: z.string().optional(),
        before: timeQuery,
        limit: limitQuery,
        next: z.string().optional(),
      }),
      answers: { 200: { description: "A page of deliveries." } },
      errors: ["invalid_address"],
    },
    async (c, { query }) => {
      const rows = await listDeliveries(ports.db, ports.tenant, {
        run: query.run === undefined ? undefined : checkId(query.run),
        states: query.state,
        address: query.address === undefined ? undefined : formatAddress(parseAddress(query.address)),
        before: beforeOf(query.next, query.before),
        limit: query.limit + 1,
      });
      return json(
        c,
        200,
        pageOf(rows, query.limit, (row) => encodePlace([row.createdAt, row.id]), toWireDelivery),
      );
    },
  );
}
