import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakeProvider } from "../support/fake-provider.ts";
import { folder, jsonLines, problem, run, say, serve, start, streamEnded, streamSays } from "./process.ts";

const hanging = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({
    agents: { hang: agent.fn(async function* () { yield "begun"; await new Promise(() => {}); }) },
    shutdown: { graceMs: 600000 },
  });
`;

describe("a gateway without settings", () => {
  test("serves, says where on standard output, and ends with 0 on SIGTERM", async () => {
    const cwd = folder();
    const { cli, url } = await serve(cwd);
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true });
    // The launcher is the server itself: no child stands between a signal and the gateway.
    expect(JSON.parse(readFileSync(path.join(cwd, ".waybill/server.json"), "utf8"))).toEqual({
      url,
      pid: cli.pid,
    });
    cli.signal("SIGTERM");
    const ended = await cli.ended;
    expect(ended).toMatchObject({ code: 0, signal: null, out: `Waybill is ready: ${url}\n`, err: "" });
    expect(existsSync(path.join(cwd, ".waybill/server.json"))).toBe(false);
  });

  test("ends with 0 on SIGINT too", async () => {
    const { cli } = await serve(folder());
    cli.signal("SIGINT");
    expect((await cli.ended).code).toBe(0);
  });

  test("is answered by the guide", async () => {
    const { url } = await serve(folder());
    const { stream } = await say(url, { conversation: "a", text: "hello there" });
    expect(await streamEnded(url, stream)).toContain("You said: hello there");
  });

  test("says that it is ready in JSON where that is asked for", async () => {
    const cli = start(["start", "--port", "0", "--log", "silent", "--json"], { cwd: folder() });
    const [, line = ""] = await cli.says(/^(\{.*\})\n/);
    const ready = JSON.parse(line) as { ready: boolean; url: string; port: number; pid: number };
    expect(ready).toMatchObject({ ready: true, pid: cli.pid });
    expect(new URL(ready.url).port).toBe(String(ready.port));
  });

  test("logs JSON lines with ids on standard error, and no token", async () => {
    const token = "a-secret-of-the-operator";
    const cli = start(["start", "--port", "0", "--log", "debug"], {
      cwd: folder(),
      env: { WAYBILL_TOKEN: token },
    });
    const url = await cli.ready();
    const headers = { authorization: `Bearer ${token}` };
    const { run: id } = await say(url, { conversation: "a", text: "hello" }, headers);
    await cli.says(/a run has ended/, "err");
    cli.signal("SIGTERM");
    const { err } = await cli.ended;
    expect(jsonLines(err)).toContainEqual(
      expect.objectContaining({ level: 30, run: id, state: "completed" }),
    );
    expect(err).not.toContain(token);
  });
});

describe("signals", () => {
  test("a second signal leaves at once, whatever still runs", async () => {
    const { cli, url } = await serve(folder({ "waybill.config.ts": hanging }));
    const { stream } = await say(url, { conversation: "a", text: "x" });
    await streamSays(url, stream, "begun");
    cli.signal("SIGTERM");
    // It stops, and waits for the run: not ready any more.
    while ((await fetch(`${url}/readyz`)).ok);
    cli.signal("SIGTERM");
    expect(await cli.ended).toMatchObject({ code: 143 });
  });

  test("--grace wins over the settings: what does not end in time is interrupted, and the exit is 0", async () => {
    const cwd = folder({ "waybill.config.ts": hanging });
    const { cli, url } = await serve(cwd, ["--grace", "0"]);
    const { run: id, stream } = await say(url, { conversation: "a", text: "x" });
    await streamSays(url, stream, "begun");
    cli.signal("SIGTERM");
    expect((await cli.ended).code).toBe(0);
    const shown = await run(["runs", "show", id, "--json"], { cwd });
    expect(JSON.parse(shown.out)).toMatchObject({ state: "interrupted", reason: "shutdown" });
  });
});

describe("agents that break outside of their run", () => {
  const breaking = (how: string) => `
    import { agent, defineConfig } from "waybill";
    export default defineConfig({
      agents: {
        bad: agent.fn(async () => { ${how} return "all is well"; }),
        good: agent.fn(async () => "still here"),
      },
    });
  `;

  test("a promise that nobody handles is logged, and the gateway goes on", async () => {
    const text = breaking('Promise.reject(new Error("forgotten"));');
    const { cli, url } = await serve(folder({ "waybill.config.ts": text }));
    const { stream } = await say(url, { conversation: "a", text: "x" });
    expect(await streamEnded(url, stream)).toContain("all is well");
    await cli.says(/"level":50.*forgotten.*nobody handled it/, "err");
    const good = await say(url, { conversation: "b", text: "x", agent: "good" });
    expect(await streamEnded(url, good.stream)).toContain("still here");
  });

  test("a throw outside of any promise stops it gracefully, with exit code 1 and the reason in the log", async () => {
    const text = breaking('setImmediate(() => { throw new Error("astray"); });');
    const { cli, url } = await serve(folder({ "waybill.config.ts": text }));
    await say(url, { conversation: "a", text: "x" });
    const ended = await cli.ended;
    expect(ended).toMatchObject({ code: 1, signal: null });
    expect(ended.err).toMatch(/"level":50.*astray.*the gateway stops/);
  });
});

describe("what keeps a gateway from starting is named", () => {
  test("a data folder that a live process uses, with that process", async () => {
    const cwd = folder();
    const { cli } = await serve(cwd);
    const second = await run(["start", "--port", "0", "--json"], { cwd });
    expect(second.code).toBe(5);
    expect(problem(second)).toMatchObject({ code: "data_in_use", details: { pid: cli.pid } });
    expect(problem(second).message).toContain(String(cli.pid));
    cli.signal("SIGTERM");
    await cli.ended;
    // The lock went with the process.
    const { cli: third } = await serve(cwd);
    expect(third.pid).not.toBe(cli.pid);
  });

  test("a taken port, and nothing was touched", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const cwd = folder();
    const ended = await run(["start", "--port", String(port)], { cwd });
    server.close();
    expect(ended.code).toBe(5);
    expect(ended.err).toMatch(/^waybill: .*\[port_in_use\]/);
    expect(ended.err).toContain(String(port));
    expect(ended.err).toContain("--port");
    expect(existsSync(path.join(cwd, ".waybill"))).toBe(false);
  });

  // Tests may run as root, whom no permission stops, so the folder is one that nobody can make: below a file.
  test("a data folder that cannot be made", async () => {
    const cwd = folder({ file: "x" });
    const ended = await run(["start", "--port", "0", "--data", "file/data", "--json"], { cwd });
    expect(ended.code).toBe(5);
    expect(problem(ended)).toMatchObject({ code: "data_folder_unusable" });
    expect(problem(ended).message).toContain(path.join(cwd, "file/data"));
  });

  test("a store that is no database", async () => {
    const cwd = folder({
      ".waybill/waybill.db": "this is not a database, and it is longer than a header is".repeat(20),
    });
    const ended = await run(["start", "--port", "0", "--json"], { cwd });
    expect(ended.code).toBe(5);
    expect(problem(ended).code).toBe("store_unavailable");
  });

  test("an open door without a token; with one it starts, and asks for it", async () => {
    const cwd = folder();
    const refused = await run(["start", "--host", "0.0.0.0", "--port", "0", "--json"], { cwd });
    expect(refused.code).toBe(5);
    expect(problem(refused)).toMatchObject({ code: "token_required", details: { host: "0.0.0.0" } });
    expect(existsSync(path.join(cwd, ".waybill"))).toBe(false);
    const { url } = await serve(cwd, ["--host", "0.0.0.0"], { WAYBILL_TOKEN: "a-token-of-some-length" });
    const local = url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${local}/v1/runs`)).status).toBe(401);
    const headers = { authorization: "Bearer a-token-of-some-length" };
    expect((await fetch(`${local}/v1/runs`, { headers })).status).toBe(200);
  });

  test("flags and variables that cannot be, each with its rule, and no value", async () => {
    const env = { WAYBILL_PORT: "70000", WAYBILL_TOKEN: "short", WAYBILL_MODEL: "gpt" };
    const ended = await run(["start", "--log", "loud", "--json"], { cwd: folder(), env });
    expect(ended.code).toBe(5);
    const { issues } = problem(ended).details as { issues: { field: string }[] };
    expect(issues.map(({ field }) => field).toSorted()).toEqual([
      "--log",
      "WAYBILL_MODEL",
      "WAYBILL_PORT",
      "WAYBILL_TOKEN",
    ]);
    expect(ended.err).not.toContain("short");
  });

  test("an unknown option, with the nearest", async () => {
    const ended = await run(["start", "--prot", "1"], { cwd: folder() });
    expect(ended.code).toBe(2);
    expect(ended.err).toMatch(
      /^waybill: unknown option '--prot'. Did you mean --port\?.*\[invalid_request\]/,
    );
  });
});

describe("flags, environment and .env", () => {
  test("a flag wins over a variable, which wins over .env, which is read", async () => {
    const cwd = folder({
      ".env": "WAYBILL_PORT=from-dotenv\nWAYBILL_DATA=from-dotenv\nWAYBILL_LOG=silent\n",
    });
    const dotenv = await run(["start"], { cwd });
    expect(dotenv.err).toContain("WAYBILL_PORT must be");
    const env = { WAYBILL_PORT: "from-environment", WAYBILL_DATA: "from-environment" };
    const cli = start(["start", "--port=0"], { cwd, env });
    await cli.ready();
    expect(existsSync(path.join(cwd, "from-environment/waybill.db"))).toBe(true);
    cli.signal("SIGTERM");
    expect((await cli.ended).err).toBe("");
    expect(existsSync(path.join(cwd, "from-dotenv"))).toBe(false);
  });

  test("settings see what .env says", async () => {
    const cwd = folder({
      ".env": "GREETING=Servus\n",
      "waybill.config.ts": `
        import { agent, defineConfig } from "waybill";
        const greeting: string = process.env.GREETING ?? "nothing";
        export default defineConfig({ agents: { hi: agent.fn(async () => greeting) } });
      `,
    });
    const { url } = await serve(cwd);
    const { stream } = await say(url, { conversation: "a", text: "hi" });
    expect(await streamEnded(url, stream)).toContain("Servus");
  });
});

test("a run that was going on when the process was killed is reported after the next start", async () => {
  const cwd = folder({ "waybill.config.ts": hanging });
  const { cli, url } = await serve(cwd);
  const { stream, address } = await say(url, { conversation: "a", text: "x" });
  await streamSays(url, stream, "begun");
  cli.signal("SIGKILL");
  await cli.ended;
  writeFileSync(path.join(cwd, "waybill.config.ts"), hanging.replaceAll("begun", "again"));
  const { url: next } = await serve(cwd);
  const response = await fetch(`${next}/v1/messages?address=${encodeURIComponent(address)}`);
  const { items } = (await response.json()) as { items: { text: string; notice: { key: string } | null }[] };
  expect(items.map(({ notice }) => notice?.key ?? null)).toEqual([null, "run.interrupted"]);
});

describe("a model", () => {
  test("that WAYBILL_MODEL names answers at WAYBILL_MODEL_URL, with the guide beside it", async () => {
    const provider = await fakeProvider();
    onTestFinished(() => provider.stop());
    provider.answer({ text: ["I am ", "a model."] });
    const env = { WAYBILL_MODEL: "fake/some-model", WAYBILL_MODEL_URL: provider.url, FAKE_API_KEY: "a-key" };
    const { url } = await serve(folder(), [], env);
    const { stream } = await say(url, { conversation: "a", text: "who are you?" });
    await streamEnded(url, stream);
    const { items } = (await (await fetch(`${url}/v1/messages?address=web:main/a`)).json()) as {
      items: { text: string }[];
    };
    expect(items.map(({ text }) => text)).toEqual(["who are you?", "I am a model."]);
    expect(provider.requests[0]).toMatchObject({
      authorization: "Bearer a-key",
      body: { model: "some-model" },
    });
    const guide = await say(url, { conversation: "b", text: "hello", agent: "guide" });
    expect(await streamEnded(url, guide.stream)).toContain("You said: hello");
  });

  test("that cannot be had is said, with what to do, and no key", async () => {
    const env = { WAYBILL_MODEL: "openai/gpt-5", WAYBILL_DATA: "d" };
    const ended = await run(["start", "--port", "0", "--json"], { cwd: folder(), env });
    expect(ended.code).toBe(5);
    // Without its package or, where that is installed, without its key.
    expect(problem(ended).message).toMatch(/npm install @ai-sdk\/openai|OPENAI_API_KEY/);
  });
});
