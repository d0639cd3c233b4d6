import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { folder, run, serve } from "./process.ts";

interface Report {
  ok: boolean;
  failed: number;
  findings: { check: string; result: string; text: string; todo: string | null }[];
}

async function doctor(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const ended = await run(["doctor", "--json", ...args], { cwd, env });
  const report = JSON.parse(ended.out) as Report;
  const of = (check: string) => report.findings.filter((finding) => finding.check === check);
  return { code: ended.code, report, of };
}

test("an empty folder is fine, and stays empty", async () => {
  const cwd = folder();
  const { code, report } = await doctor(cwd, ["--port", "0"]);
  expect(code).toBe(0);
  expect(report).toMatchObject({ ok: true, failed: 0 });
  expect(report.findings.map(({ check }) => check)).toEqual([
    "node",
    "settings",
    "model",
    "data folder",
    "disk",
    "store",
    "port",
    "token",
  ]);
  expect(report.findings.every(({ result, todo }) => result === "ok" && todo === null)).toBe(true);
});

test("a gateway that runs here is known: its port, its store", async () => {
  const cwd = folder();
  const { cli, url } = await serve(cwd);
  const { code, of } = await doctor(cwd, ["--port", new URL(url).port]);
  expect(code).toBe(0);
  expect(of("port")).toMatchObject([
    { result: "ok", text: expect.stringContaining(String(cli.pid)) as string },
  ]);
  expect(of("store")).toMatchObject([
    { result: "ok", text: expect.stringContaining(String(cli.pid)) as string },
  ]);
  expect(of("schema")).toMatchObject([{ result: "ok" }]);
});

test("each thing that would fail is said, with what to do, and the exit code is 1", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const { port } = server.address() as AddressInfo;
  const cwd = folder({ file: "x", "waybill.config.ts": "export default { agentz: 1 };" });
  const args = ["--data", "file/data", "--host", "0.0.0.0", "--port", String(port)];
  const { code, report, of } = await doctor(cwd, [
    ...args,
    "--database-url",
    "postgres://nobody@127.0.0.1:1/x",
  ]);
  server.close();
  expect(code).toBe(1);
  const failing = report.findings.filter(({ result }) => result === "fail");
  expect(failing.map(({ check }) => check)).toEqual(["settings", "data folder", "store", "port", "token"]);
  expect(failing.map(({ todo }) => todo)).not.toContain(null);
  expect(of("settings")[0]?.text).toContain('Did you mean "agents"?');
  expect(report).toMatchObject({ ok: false, failed: 5 });
});

test("a model without its key, a short token, a key file that others can read", async () => {
  const settings = `
    import { agent, defineConfig } from "waybill";
    export default defineConfig({ agents: { a: agent.model({ model: "nobody/knows" }) } });
  `;
  const cwd = folder({ "waybill.config.ts": settings, ".waybill/key": "x" });
  const { code, of } = await doctor(cwd, ["--port", "0"], {
    WAYBILL_TOKEN: "12345678",
    WAYBILL_MODEL: "openai/x",
  });
  expect(code).toBe(0);
  expect(of("token")).toMatchObject([{ result: "warn" }]);
  expect(of("key")).toMatchObject([{ result: "warn", todo: expect.stringContaining("chmod 600") as string }]);
  expect(of("model")).toMatchObject([
    { result: "warn", text: "WAYBILL_MODEL is set and not used" },
    { result: "ok" },
  ]);
});

test("a variable that cannot be is named, and the rest is not guessed", async () => {
  const { code, report } = await doctor(folder(), [], { WAYBILL_PORT: "x" });
  expect(code).toBe(1);
  expect(report.findings.map(({ check, result }) => [check, result])).toEqual([
    ["node", "ok"],
    ["environment", "fail"],
  ]);
});

test("for people: a line for each check, within 80 columns", async () => {
  const { out, code } = await run(["doctor", "--host", "0.0.0.0", "--port", "0"], { cwd: folder() });
  expect(code).toBe(1);
  expect(out).toMatch(/^ok {4}node +Node\.js/);
  expect(out).toMatch(/^fail {2}token +.*\n +-> Set WAYBILL_TOKEN/m);
  expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test("a channel is asked for the rights of its token, which are compared by name", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, {
      "content-type": "application/json",
      "x-oauth-scopes": "chat:write,users:read",
    });
    response.end(JSON.stringify({ ok: true, team_id: "T1", team: "Acme", user: "ada", user_id: "U1" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const settings = `
    import { agent, defineConfig } from "waybill";
    import { slack } from "waybill/slack";
    const allow = { users: "*", channels: "*", dms: true };
    const apiUrl = "http://127.0.0.1:${port}/api/";
    export default defineConfig({
      agents: { a: agent.fn(() => "hi") },
      channels: [slack({ account: "T1", botToken: "xoxb-1", signingSecret: "s", apiUrl, allow })],
    });
  `;
  const { code, of } = await doctor(folder({ "waybill.config.ts": settings }), ["--port", "0"]);
  server.close();
  expect(code).toBe(1);
  expect(of("channel").map(({ result, text }) => [result, text.slice(0, 60)])).toEqual([
    ["ok", "web:main is set up"],
    ["ok", "slack:T1: the bot is ada in Acme"],
    ["fail", expect.stringContaining("slack:T1: the bot's token lacks app_mentions:read") as string],
  ]);
});
