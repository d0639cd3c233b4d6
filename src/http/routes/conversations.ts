import { z } from "zod";
import { formatAddress, parseAddress } from "../../address/address.ts";
import { listConversations } from "../../deliveries/read-conversations.ts";
import { decodePlace, encodePlace, pageOf } from "../paging.ts";
import type { HttpPorts } from "../ports.ts";
import { json, limitQuery, route, shortText, type Routes } from "../route.ts";
import { toWireConversation } from "../wire.ts";

export function conversationRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/conversations",
      summary: "Conversations and their threads, the latest spoken in first.",
      query: z.strictObject({
        channel: shortText(32).optional(),
        parent: z.string().optional(),
        threads: z.enum(["true", "false"]).optional(),
        limit: limitQuery,
        next: z.string().optional(),
      }),
      answers: { 200: { description: "A page of conversations." } },
      errors: ["invalid_address"],
    },
    async (c, { query }) => {
      const place = decodePlace(query.next);
      const rows = await listConversations(ports.db, ports.tenant, {
        channel: query.channel,
        parent: query.parent === undefined ? undefined : formatAddress(parseAddress(query.parent)),
        rootsOnly: query.threads === "false",
        before: place && { lastAt: place[0], address: place[1] },
        limit: query.limit + 1,
      });
      const page = pageOf(
        rows,
        query.limit,
        (row) => encodePlace([row.lastAt, row.address]),
        toWireConversation,
      );
      return json(c, 200, page);
    },
  );
}
