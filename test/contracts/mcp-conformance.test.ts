/**
 * The conformance runner of the Model Context Protocol against the tools' door, over a real socket. It knows no bearer
 * tokens, so a proxy adds the grant's; everything else passes as it comes, the Host and Origin headers too.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import { gate, startHttpGateway, type HttpGateway } from "../support/http-gateway.ts";

/**
 * Of the runner's 32 scenarios for servers those that ask for nothing but tools of whatever name. The others call tools,
 * prompts and resources of the runner's own (`test_simple_text` and the like), or want sessions, logging or completion,
 * none of which a stateless server with three tools has.
 */
const scenarios = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

const runner = path.resolve(
  import.meta.dirname,
  "../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

let gateway: HttpGateway;
let proxy: Server;
let url: string;
let folder: string;
const done = gate();

beforeAll(async () => {
  const lent = Promise.withResolvers<string>();
  const lender = agent.fn(async (ctx) => {
    lent.resolve((await ctx.grant("process:1")).token);
    await done.opened;
  });
  gateway = await startHttpGateway({ agents: { lender } });
  const target = await gateway.listen();
  await gateway.post("/v1/messages", { conversation: "dm", text: "hello" });
  proxy = addingToken(target, await lent.promise);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
  folder = await mkdtemp(path.join(tmpdir(), "waybill-conformance-"));
});

afterAll(async () => {
  done.open();
  proxy.closeAllConnections();
  proxy.close();
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

function addingToken(target: string, token: string): Server {
  const { hostname, port } = new URL(target);
  return createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method, url: where } = incoming;
    const onward = request({ hostname, port, path: where, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
}

test.concurrent.each(scenarios)("%s", async (scenario) => {
  const args = [runner, "server", "--url", url, "--scenario", scenario];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => (said += piece.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  expect(said).toMatch(/Passed: [1-9]/);
});
