import { expect, onTestFinished, test } from "vitest";
import { gate, httpGateway } from "../../../test/support/http-gateway.ts";
import { toolClient } from "../../../test/support/tool-client.ts";
import { agent } from "../../agents/agent-factory.ts";
import type { RunContext } from "../../agents/agent.ts";

/** A gateway whose agent hands its context to the test and waits, with a client that holds its grant. */
async function talking(options: Parameters<typeof httpGateway>[1] = {}) {
  const contexts: RunContext[] = [];
  const began = [gate(), gate(), gate()];
  const done = gate();
  const assistant = agent.fn(async (ctx) => {
    contexts.push(ctx);
    began[contexts.length - 1]!.open();
    await done.opened;
    return "the answer";
  });
  const gateway = await httpGateway({ agents: { assistant } }, options);
  onTestFinished(() => done.open());
  const url = await gateway.listen();
  const headers: Record<string, string> =
    options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const ask = async (conversation: string, kind = "dm") => {
    const before = contexts.length;
    const { body } = await gateway.post("/v1/messages", { conversation, kind, text: "hello" }, headers);
    await began[before]!.opened;
    return { ctx: contexts[before]!, run: body.run! };
  };
  const hold = async (token: string) => {
    const client = await toolClient(url, token);
    onTestFinished(() => client.close());
    return client;
  };
  return { gateway, url, ask, hold, done, headers };
}

test("the official client finds the tools, with words that teach the rules", async () => {
  const { ask, hold } = await talking();
  const { ctx } = await ask("dm");
  const { client } = await hold((await ctx.grant("process:1")).token);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["post_message", "run_status", "list_addresses"]);
  for (const { description, inputSchema } of tools) {
    expect(description!.length).toBeLessThan(500);
    expect(Object.keys(inputSchema.properties ?? {})).toContain("turn_conversation");
  }
  expect(client.getServerVersion()?.name).toBe("waybill");
  expect(client.getInstructions()).toContain("turn_conversation");
});

test("a message without a target is posted where the turn was asked, and the same id posts it once", async () => {
  const { gateway, ask, hold, done } = await talking();
  const { ctx, run } = await ask("dm");
  const tools = await hold((await ctx.grant("process:1")).token);
  const first = await tools.call("post_message", { text: "on it", id: "a", turn_conversation: ctx.echo });
  const again = await tools.call("post_message", { text: "on it", id: "a", turn_conversation: ctx.echo });
  const other = await tools.call("post_message", { text: "not it", id: "a", turn_conversation: ctx.echo });
  expect(first).toMatchObject({ refused: false, value: { address: "web:main/dm", state: "delivered", run } });
  expect(again.value).toEqual(first.value);
  expect(other).toMatchObject({ refused: true, value: { code: "idempotency_conflict" } });
  done.open();
  await gateway.ended(run);
  const { body } = await gateway.get<{ items: { text: string; run: string }[] }>(
    "/v1/messages?address=web:main/dm",
  );
  expect(body.items.map(({ text }) => text)).toEqual(["hello", "on it", "the answer"]);
});

test("a refused target names the address to use, stands in the run's events and is counted", async () => {
  const { gateway, ask, hold } = await talking();
  const { ctx, run } = await ask("dm");
  const tools = await hold((await ctx.grant("process:1")).token);
  const answer = await tools.call("post_message", { text: "psst", to: "web:main/general" });
  expect(answer.refused).toBe(true);
  expect(answer.text).toContain("cross_post_not_allowed: ");
  expect(answer.text).toContain("web:main/dm");
  expect(answer.value).toMatchObject({ code: "cross_post_not_allowed", use: "web:main/dm" });
  const { body } = await gateway.get<{ items: { kind: string; data: object }[] }>(`/v1/runs/${run}/events`);
  expect(body.items.find(({ kind }) => kind === "send_refused")?.data).toMatchObject({
    rule: "explicit",
    address: "web:main/general",
    reason: "cross_post_not_allowed",
    tool: "post_message",
  });
  const metrics = await (await gateway.call("/metrics")).text();
  expect(metrics).toContain(
    'waybill_tool_calls_total{tool="post_message",outcome="cross_post_not_allowed"} 1',
  );
});

test("status and addresses are those of the turn's own place", async () => {
  const { ask, hold } = await talking();
  const { ctx, run } = await ask("dm");
  const elsewhere = await ask("other");
  const tools = await hold((await ctx.grant("process:1")).token);
  const status = await tools.call("run_status");
  expect(status.value).toMatchObject({ address: "web:main/dm", runs: [{ run, state: "running" }] });
  expect(status.text).toContain("assistant");
  const foreign = await tools.call("run_status", { run: elsewhere.run });
  expect(foreign.value).toMatchObject({ code: "unknown_run", use: "web:main/dm" });
  expect((await tools.call("list_addresses")).value).toEqual({
    addresses: [{ address: "web:main/dm", why: "turn" }],
  });
});

test("the tools open with a grant only, and a grant opens nothing else", async () => {
  const { gateway, url, ask, headers } = await talking({ token: "operator-token-of-this-test" });
  const { ctx } = await ask("dm");
  const { token } = await ctx.grant("process:1");
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const accept = { accept: "application/json, text/event-stream" };
  const codeOf = async (path: string, given: Record<string, string>, body?: unknown) =>
    body === undefined
      ? (await gateway.get<{ code: string }>(path, given)).body.code
      : (await gateway.post<{ code: string }>(path, body, given)).body.code;
  expect(await codeOf("/mcp", accept, list)).toBe("invalid_grant");
  expect(await codeOf("/mcp", { ...accept, ...headers }, list)).toBe("invalid_grant");
  const madeUp = { authorization: `Bearer wbg_${"A".repeat(43)}` };
  expect(await codeOf("/mcp", { ...accept, ...madeUp }, list)).toBe("invalid_grant");
  const answer = await fetch(new URL("/mcp", url), {
    method: "POST",
    body: JSON.stringify(list),
    headers: { ...accept, ...madeUp, "content-type": "application/json" },
  });
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  const held = { authorization: `Bearer ${token}` };
  expect(await codeOf("/v1/runs", held)).toBe("forbidden");
  expect(await codeOf("/v1/messages", held, { conversation: "x", text: "x" })).toBe("forbidden");
  const strange = { ...held, ...accept, origin: "https://evil.example" };
  expect(await codeOf("/mcp", strange, list)).toBe("foreign_origin");
});

test("a shell posts with the same token and the same rules", async () => {
  const { gateway, ask } = await talking();
  const { ctx, run } = await ask("dm");
  const held = { authorization: `Bearer ${(await ctx.grant("process:1")).token}` };
  const send = (body: object) => gateway.post<Record<string, unknown>>("/v1/sends", body, held);
  const sent = await send({ text: "from a shell" });
  expect(sent).toMatchObject({ status: 202, body: { address: "web:main/dm", run } });
  const elsewhere = await send({ text: "x", to: "web:main/general" });
  expect(elsewhere).toMatchObject({
    status: 403,
    body: { code: "cross_post_not_allowed", use: "web:main/dm" },
  });
  const other = await ask("other");
  expect((await send({ text: "x", run: other.run })).body["code"]).toBe("unknown_run");
  expect((await send({ text: "x", turn_conversation: other.ctx.echo })).body["code"]).toBe(
    "turn_not_granted",
  );
  expect((await send({ text: "x", turn_conversation: "#general" })).body["code"]).toBe("invalid_echo");
});

test("two turns of one process are told apart by echo or recorded turn id, and by nothing else", async () => {
  const { ask, hold } = await talking();
  const [dm, room] = [await ask("dm"), await ask("room", "channel")];
  const { token } = await dm.ctx.grant("process:1", "agent-turn-1");
  expect((await room.ctx.grant("process:1", "agent-turn-2")).token).toBe(token);
  expect((await room.ctx.grant("process:2")).token).not.toBe(token);
  const tools = await hold(token);
  const post = async (args: object, meta?: Record<string, unknown>) =>
    (await tools.call("post_message", { text: "x", ...args }, meta)).value;
  expect(await post({ turn_conversation: dm.ctx.echo })).toMatchObject({ address: "web:main/dm" });
  expect(await post({ turn_conversation: room.ctx.echo })).toMatchObject({ address: "web:main/room" });
  expect(await post({}, { "waybill/turn": "agent-turn-1" })).toMatchObject({ address: "web:main/dm" });
  const codex = { "x-codex-turn-metadata": { turn_id: "agent-turn-2" } };
  expect(await post({}, codex)).toMatchObject({ address: "web:main/room" });
  const addresses = ["web:main/dm", "web:main/room"];
  expect(await post({})).toMatchObject({ code: "turn_required", addresses });
  expect(await post({ to: "web:main/dm" })).toMatchObject({ code: "turn_required", addresses });
  expect(await post({}, { "waybill/turn": "web:main/dm" })).toMatchObject({ code: "turn_required" });
  expect(await post({ turn_conversation: dm.ctx.echo }, codex)).toMatchObject({ code: "turn_mismatch" });
});

test("what is malformed is refused, and posts nothing", async () => {
  const { gateway, url, ask, hold } = await talking();
  const { ctx } = await ask("dm");
  const { token } = await ctx.grant("process:1");
  const send = (body: string, type = "application/json") =>
    fetch(new URL("/mcp", url), {
      method: "POST",
      body,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json, text/event-stream",
        "content-type": type,
      },
    });
  expect((await send("{")).status).toBe(400);
  expect((await send("{}")).status).toBe(400);
  expect((await send("hello", "text/plain")).status).toBe(415);
  expect((await send(JSON.stringify("x".repeat(1_100_000)))).status).toBe(413);
  const held = { headers: { authorization: `Bearer ${token}` } };
  expect((await fetch(new URL("/mcp", url), { ...held, method: "DELETE" })).status).toBe(405);
  const tools = await hold(token);
  for (const args of [
    {},
    { text: "" },
    { text: 1 },
    { text: "x", id: "" },
    { text: "x", to: "y".repeat(20_000) },
  ]) {
    expect((await tools.call("post_message", args)).refused).toBe(true);
  }
  expect((await tools.call("post_message", { text: "x", to: "#general" })).value).toMatchObject({
    code: "invalid_address",
  });
  await expect(tools.call("delete_everything")).rejects.toThrow("not found");
  const { body } = await gateway.get<{ items: object[] }>("/v1/messages?address=web:main/dm");
  expect(body.items).toHaveLength(1);
});
