/** The official MCP client, as an agent's runtime uses it: over a socket, with the token of a grant. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** What a tool answered: its value, or the refusal. */
export interface ToolAnswer {
  refused: boolean;
  text: string;
  value: Record<string, unknown>;
}

export interface ToolClient {
  call(tool: string, args?: Record<string, unknown>, meta?: Record<string, unknown>): Promise<ToolAnswer>;
  readonly client: Client;
  close(): Promise<void>;
}

/** @param fetch reaches a gateway that does not listen */
export async function toolClient(
  url: string,
  token: string,
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>,
): Promise<ToolClient> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = { authorization: `Bearer ${token}` };
  const how = { requestInit: { headers }, ...(fetch === undefined ? {} : { fetch }) };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), how));
  return {
    client,
    async call(name, args = {}, meta) {
      const result = await client.callTool({
        name,
        arguments: args,
        ...(meta === undefined ? {} : { _meta: meta }),
      });
      const [first] = result.content;
      return {
        refused: result.isError === true,
        text: first?.type === "text" ? first.text : "",
        value: (result.structuredContent ?? {}) as Record<string, unknown>,
      };
    },
    close: () => client.close(),
  };
}
