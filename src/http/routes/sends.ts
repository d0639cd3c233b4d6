import { z } from "zod";
import { invalidRequest } from "../body.ts";
import type { HttpPorts, SendRequest } from "../ports.ts";
import { json, route, shortText, type Routes } from "../route.ts";

/** Longer than any echo: an address has at most 14,000 characters. */
export const echoMost = 14_500;

const sendBody = z.strictObject({
  to: z.string().optional(),
  account: shortText(4_700).optional(),
  text: z.string().refine((text) => text.trim() !== "", "is empty"),
  run: shortText(200).optional(),
  turn_conversation: shortText(echoMost).optional(),
  id: shortText(200).optional(),
});

type SendBody = z.output<typeof sendBody>;

/** Sends by an operator, or by an agent that has nothing but a shell: with the token of its grant. */
export function sendRoutes(routes: Routes, ports: HttpPorts): void {
  route(
    routes,
    {
      method: "post",
      path: "/v1/sends",
      summary:
        "Sends a message under the rules of addresses: to an address; for no run, to a slot of an account; with a token for tools, in the name of its turn.",
      body: sendBody,
      answers: { 202: { description: "The delivery." } },
      errors: [
        "invalid_address",
        "destination_not_allowed",
        "cross_post_not_allowed",
        "no_destination",
        "unknown_run",
        "idempotency_conflict",
        "invalid_grant",
        "grant_expired",
        "turn_required",
        "invalid_echo",
        "forged_echo",
        "turn_not_granted",
        "turn_ended",
        "no_live_turn",
      ],
    },
    async (c, { body }) => {
      const token = c.get("grant");
      return json(
        c,
        202,
        token === null ? await ports.send(operatorSend(body)) : await sendByGrant(ports, token, body),
      );
    },
  );
}

function operatorSend(body: SendBody): SendRequest {
  const { to, turn_conversation, ...rest } = body;
  const issues = [
    ...(to === undefined ? [{ field: "to", rule: "is missing (string)" }] : []),
    ...(turn_conversation === undefined
      ? []
      : [{ field: "turn_conversation", rule: "goes with a token for tools; an operator names a run" }]),
  ];
  if (to === undefined || issues.length > 0) throw invalidRequest(issues);
  return { to, ...rest };
}

async function sendByGrant(ports: HttpPorts, token: string, body: SendBody) {
  const { to, account, text, run, turn_conversation, id } = body;
  if (account !== undefined) {
    throw invalidRequest([{ field: "account", rule: "goes with a slot, which only an operator may name" }]);
  }
  const grant = await ports.tools.open(token);
  return ports.tools.post(grant, {
    text,
    ...(to === undefined ? {} : { to }),
    ...(run === undefined ? {} : { ofRun: run }),
    ...(turn_conversation === undefined ? {} : { turnConversation: turn_conversation }),
    ...(id === undefined ? {} : { id }),
  });
}
