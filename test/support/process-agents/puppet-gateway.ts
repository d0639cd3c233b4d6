/**
 * A gateway as a process of its own, with puppets (puppets.ts, on the port given) for its agent's processes. It says one
 * message to itself; told `exit`, it ends without a stop. Ended in other ways by its parent.
 */
import { createGateway } from "../../../src/gateway/create-gateway.ts";
import { agent } from "../../../src/agents/agent-factory.ts";

const [port = "", dataDir = ""] = process.argv.slice(2);
const args = [`${import.meta.dirname}/puppet.ts`, port];
const gateway = createGateway(
  { agents: { helper: agent.process({ command: process.execPath, args }) } },
  { dataDir },
);
process.on("message", () => process.exit(0));
process.on("disconnect", () => process.exit(1));
await gateway.start();
await gateway.fetch(
  new Request("http://127.0.0.1/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ conversation: "c", text: "hello" }),
  }),
);
