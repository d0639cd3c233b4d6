import type { CallToolResult, McpServer as Server, ServerContext } from "@modelcontextprotocol/server";
import type { RunFact } from "../../agents/agent.ts";
import { asWaybillError } from "../../kernel/errors.ts";
import type { Grant } from "../../ledger/grants.ts";
import type { TurnChoice } from "../../runs/tool-door.ts";
import type { HttpPorts } from "../ports.ts";
import { instructions, listAddresses, postMessage, runStatus } from "./describe-tools.ts";

type Ports = Pick<HttpPorts, "tools" | "version" | "log">;
type McpServerClass = typeof Server;

/** The server object of one request. The grant is what its bearer token gave; nothing that a caller says widens it. */
export function toolServer(McpServer: McpServerClass, ports: Ports, grant: Grant): Server {
  const { tools } = ports;
  const server = new McpServer(
    { name: "waybill", title: "Waybill", version: ports.version },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  server.registerTool("post_message", postMessage, async ({ text, to, turn_conversation, id }, ctx) =>
    answer(ports, async () => {
      const call = { text, ...given({ to, id }), ...turnChoice(turn_conversation, ctx) };
      const sent = await tools.post(grant, call);
      return { said: saidOf(sent.state, sent.address), value: { ...sent } };
    }),
  );
  server.registerTool("run_status", runStatus, async ({ run, turn_conversation }, ctx) =>
    answer(ports, async () => {
      const call = { ...given({ run }), ...turnChoice(turn_conversation, ctx) };
      const { address, runs, text } = await tools.status(grant, call);
      return { said: [text, ...runs.map(lineOf)].join("\n"), value: { address, runs, text } };
    }),
  );
  server.registerTool("list_addresses", listAddresses, async ({ turn_conversation }, ctx) =>
    answer(ports, async () => {
      const addresses = await tools.addresses(grant, turnChoice(turn_conversation, ctx));
      const lines = addresses.map(({ address, why }) => `${address} (${whys[why]})`);
      return { said: lines.join("\n"), value: { addresses } };
    }),
  );
  return server;
}

const whys = { turn: "where you were asked", cross_post_rule: "allowed by a rule" };

function saidOf(state: string, address: string): string {
  if (state === "delivered") return `Posted at ${address}.`;
  if (state === "blocked") return `Not posted at ${address}: the place is closed. The operator sees it.`;
  return `Accepted for ${address}; it is being posted.`;
}

function lineOf(fact: RunFact): string {
  const { run, agent, state, progress, reason } = fact;
  const since = fact.finishedAt ?? fact.startedAt ?? fact.asked;
  return [`${run} ${agent} ${state} since ${since}`, progress, reason]
    .filter((piece) => piece !== null)
    .join("; ");
}

function given<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/**
 * What a call says of its turn. `_meta` is the caller's word: the agent's own turn id in it can only pick one of the runs
 * that the token may act for anyway, and only if we recorded that id when the turn began.
 */
function turnChoice(turnConversation: string | undefined, ctx: ServerContext): TurnChoice {
  const meta = (ctx.mcpReq._meta ?? {}) as Record<string, unknown>;
  const codex = meta["x-codex-turn-metadata"];
  const agentTurn = textOr(meta["waybill/turn"]) ?? textOr(fieldsOf(codex)["turn_id"]);
  return given({ turnConversation, agentTurn });
}

/** Codex gives it as an object, or as the JSON text of one. */
function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "string") return (value ?? {}) as Record<string, unknown>;
  try {
    return (JSON.parse(value) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" && value.length > 0 && value.length <= 200 ? value : undefined;
}

/** A refusal is a result that the model reads: its code, what to do, and the address to use. */
async function answer(
  ports: Ports,
  act: () => Promise<{ said: string; value: Record<string, unknown> }>,
): Promise<CallToolResult> {
  try {
    const { said, value } = await act();
    return { content: [{ type: "text", text: said }], structuredContent: value };
  } catch (thrown) {
    const { code, message, details, cause } = asWaybillError(thrown);
    if (code === "internal") ports.log.error({ code, cause: String(cause) }, "a tool failed");
    const use = details["use"];
    const addresses = details["addresses"];
    const value = {
      code,
      detail: message,
      ...(use === undefined ? {} : { use }),
      ...(addresses === undefined ? {} : { addresses }),
    };
    return {
      content: [{ type: "text", text: `${code}: ${message}` }],
      structuredContent: value,
      isError: true,
    };
  }
}
