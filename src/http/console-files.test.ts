import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { httpGateway } from "../../test/support/http-gateway.ts";
import { agent } from "../agents/agent-factory.ts";

const config = { agents: { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) } };
const html = { accept: "text/html,application/xhtml+xml" };
const script = "export const hello = 1;\n".repeat(50);

function builtFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "waybill-console-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "assets"));
  writeFileSync(path.join(folder, "index.html"), "<title>the console</title>");
  writeFileSync(path.join(folder, "assets/index-1.js"), script);
  writeFileSync(path.join(folder, "assets/index-1.js.gz"), gzipSync(script));
  return folder;
}

test.each(["/", "/chat/web:main/general", "/runs/run_1"])("a browser at %s gets the page", async (where) => {
  const gateway = await httpGateway(config, { token: "secret", consoleDir: builtFolder() });
  const response = await gateway.call(where, { headers: html });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("the console");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toContain("unsafe");
});

test.each([
  "/v1/runs",
  "/v1/nothing",
  "/api/chat/x/stream",
  "/metrics",
  "/openapi.json",
  "/channels/slack/events",
])("%s is the API's, also for a browser", async (where) => {
  const gateway = await httpGateway(config, { consoleDir: builtFolder() });
  const response = await gateway.call(where, { headers: html });
  expect(response.headers.get("content-type") ?? "").not.toContain("text/html");
});

test("a program that asks for a path that does not exist gets a problem, no page", async () => {
  const gateway = await httpGateway(config, { consoleDir: builtFolder() });
  const { status, body } = await gateway.get<{ code: string }>("/chat/none");
  expect([status, body.code]).toEqual([404, "not_found"]);
});

test("a file with a digest in its name may be kept for good, and comes packed to who can unpack it", async () => {
  const gateway = await httpGateway(config, { token: "secret", consoleDir: builtFolder() });
  const plain = await gateway.call("/assets/index-1.js");
  expect(await plain.text()).toBe(script);
  expect(plain.headers.get("cache-control")).toContain("immutable");
  expect(plain.headers.get("content-type")).toContain("text/javascript");
  const packed = await gateway.call("/assets/index-1.js", { headers: { "accept-encoding": "br, gzip" } });
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(script);
  const etag = plain.headers.get("etag") ?? "";
  const again = await gateway.call("/assets/index-1.js", { headers: { "if-none-match": etag } });
  expect(again.status).toBe(304);
});

test("nothing beside the folder is served", async () => {
  const folder = builtFolder();
  writeFileSync(path.join(path.dirname(folder), `${path.basename(folder)}.txt`), "secret");
  onTestFinished(() => rmSync(`${folder}.txt`, { force: true }));
  const gateway = await httpGateway(config, { consoleDir: folder });
  for (const where of [
    `/assets/../../${path.basename(folder)}.txt`,
    "/assets/%2e%2e/index.html.gz",
    "/.digest",
  ]) {
    expect((await gateway.call(where)).status).toBe(404);
  }
});

test("a new build shows without a restart", async () => {
  const folder = builtFolder();
  const gateway = await httpGateway(config, { consoleDir: folder });
  expect(await (await gateway.call("/", { headers: html })).text()).toContain("the console");
  rmSync(path.join(folder, "index.html"));
  expect(await (await gateway.call("/", { headers: html })).text()).not.toContain("the console");
  writeFileSync(path.join(folder, "index.html"), "<title>the next console</title>");
  expect(await (await gateway.call("/", { headers: html })).text()).toContain("the next console");
});

test("a page of another name for this machine is refused", async () => {
  const gateway = await httpGateway(config, { consoleDir: builtFolder() });
  const response = await gateway.call("/", { headers: { ...html, host: "evil.example" } });
  expect(response.status).toBe(403);
});
