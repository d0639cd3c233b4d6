import { z } from "zod";
import { listRefusals, type RefusalRecord } from "../../ledger/read-refusals.ts";
import { listDenials, type DenialRecord } from "../../turns/read-denials.ts";
import type { WireDenial, WireDeliveryRule, WireRefusal } from "../api.ts";
import { badPlace, decodePlace, encodePlace, pageOf } from "../paging.ts";
import type { HttpPorts } from "../ports.ts";
import { json, limitQuery, route, type Routes } from "../route.ts";
import { iso } from "../wire.ts";

const pageQuery = z.strictObject({ limit: limitQuery, next: z.string().optional() });

/** Who was turned away, and which sends were refused: what an operator may want to allow. */
export function denialRoutes(routes: Routes, ports: HttpPorts): void {
  const { db, tenant } = ports;
  route(
    routes,
    {
      method: "get",
      path: "/v1/denials",
      summary: "Senders who were turned away, the latest first, with the id that an allowlist takes.",
      query: pageQuery,
      answers: { 200: { description: "A page of denials." } },
    },
    async (c, { query }) => {
      const before = beforeDenial(query.next);
      const rows = await listDenials(db, tenant, { before, limit: query.limit + 1 });
      return json(c, 200, pageOf(rows, query.limit, placeOfDenial, toWireDenial));
    },
  );
  route(
    routes,
    {
      method: "get",
      path: "/v1/refusals",
      summary: "Sends of runs that the rules of addresses refused, the newest first.",
      query: pageQuery,
      answers: { 200: { description: "A page of refusals." } },
    },
    async (c, { query }) => {
      const before = beforeRefusal(query.next);
      const rows = await listRefusals(db, tenant, { before, limit: query.limit + 1 });
      return json(c, 200, pageOf(rows, query.limit, placeOfRefusal, toWireRefusal));
    },
  );
}

function placeOfDenial({ lastAt, address, sender, reason }: DenialRecord): string {
  return encodePlace([lastAt, JSON.stringify([address, sender, reason])]);
}

const denialKey = z.tuple([z.string(), z.string(), z.string()]);

function beforeDenial(next: string | undefined) {
  const place = decodePlace(next);
  if (!place) return undefined;
  const key = denialKey.safeParse(parsed(place[1]));
  if (!key.success) throw badPlace();
  return { at: place[0], key: key.data };
}

function placeOfRefusal({ at, run, seq }: RefusalRecord): string {
  return encodePlace([at, JSON.stringify([run, seq])]);
}

const refusalKey = z.tuple([z.string(), z.number()]);

function beforeRefusal(next: string | undefined) {
  const place = decodePlace(next);
  if (!place) return undefined;
  const key = refusalKey.safeParse(parsed(place[1]));
  if (!key.success) throw badPlace();
  const [run, seq] = key.data;
  return { at: place[0], run, seq };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toWireDenial({ firstAt, lastAt, ...rest }: DenialRecord): WireDenial {
  return { ...rest, firstAt: iso(firstAt), lastAt: iso(lastAt) };
}

function toWireRefusal({ run, seq, agent, data, at }: RefusalRecord): WireRefusal {
  const { rule, address, reason, use } = data;
  return {
    run,
    seq,
    agent,
    rule: rule as WireDeliveryRule,
    address: String(address),
    reason: String(reason),
    use: typeof use === "string" ? use : null,
    at: iso(at),
  };
}
