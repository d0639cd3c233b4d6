import { z } from "zod";
import { formatAddress, parseAddress } from "../../address/address.ts";
import { WaybillError } from "../../kernel/errors.ts";
import { readPlaceRuns } from "../../ledger/place-runs.ts";
import { readRun } from "../../ledger/read-runs.ts";
import { sayRun, sayStatus } from "../../ledger/say-status.ts";
import type { WireStatus } from "../api.ts";
import { invalidRequest } from "../body.ts";
import { localeOf } from "../context.ts";
import type { HttpPorts } from "../ports.ts";
import { checkId, json, route, type Routes } from "../route.ts";
import { toWireRun } from "../wire.ts";

/** Runs of a place that a status tells. */
const told = 20;

/** Facts of the ledger about a place or a run, and the sentence that people get; no model is asked. */
export function statusRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/status",
      summary: "What runs, and what has ended, at an address or of one run.",
      query: z.strictObject({
        address: z.string().optional(),
        run: z.string().optional(),
        locale: z.string().optional(),
      }),
      answers: { 200: { description: "The runs, live ones first, and the sentence that people get." } },
      errors: ["invalid_address", "unknown_run"],
    },
    async (c, { query }) => {
      if ((query.address === undefined) === (query.run === undefined)) {
        throw invalidRequest([{ field: "address", rule: "name either an address or a run" }]);
      }
      const locale = localeOf(c, ports.locale);
      const now = ports.clock.now();
      if (query.run !== undefined) {
        const id = checkId(query.run);
        const run = await readRun(ports.db, ports.tenant, id);
        if (!run) throw new WaybillError("unknown_run", `There is no run ${id}.`, { run: id });
        return json(c, 200, {
          address: run.replyTo,
          runs: [toWireRun(run)],
          text: sayRun(run, now, locale),
        } satisfies WireStatus);
      }
      const address = formatAddress(parseAddress(query.address ?? ""));
      const runs = await readPlaceRuns(ports.db, ports.tenant, address, told);
      return json(c, 200, {
        address,
        runs: runs.map(toWireRun),
        text: sayStatus(runs, now, locale),
      } satisfies WireStatus);
    },
  );
}
