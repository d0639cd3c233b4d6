import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, problem, run, say, serve, streamEnded } from "./process.ts";

const good = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({ agents: { echo: agent.fn(async (ctx) => "Echo: " + ctx.text) } });
`;

/** Checks settings in a folder of their own. */
async function check(files: Record<string, string>, args: readonly string[] = []) {
  const cwd = folder(files);
  const ended = await run(["config", "check", "--json", ...args], { cwd });
  return { cwd, ended };
}

describe("settings that can be used", () => {
  test("are told with their agents and channels", async () => {
    const { cwd, ended } = await check({ "waybill.config.ts": good });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.out)).toMatchObject({
      ok: true,
      file: path.join(cwd, "waybill.config.ts"),
      agents: [{ name: "echo", kind: "fn" }],
      channels: [{ kind: "web", account: "main" }],
      warnings: [],
    });
  });

  test.each(["waybill.config.ts", "waybill.config.mts", "waybill.config.js", "waybill.config.mjs"])(
    "are found as %s and answer",
    async (name) => {
      const { url } = await serve(folder({ [name]: good }));
      const { stream } = await say(url, { conversation: "a", text: "x" });
      expect(await streamEnded(url, stream)).toContain("Echo: x");
    },
  );

  test("are an ES module also where package.json says CommonJS, as npm init writes it", async () => {
    const { ended } = await check({ "waybill.config.ts": good, "package.json": '{ "type": "commonjs" }' });
    expect(ended).toMatchObject({ code: 0, err: "" });
  });

  test("may be somewhere else, and name what they import", async () => {
    const { cwd, ended } = await check(
      {
        "ops/settings.ts": good
          .replace('"Echo: "', "prefix")
          .replace("export", 'import { prefix } from "./prefix.ts";\nexport'),
        "ops/prefix.ts": 'export const prefix: string = "Say: ";',
      },
      ["--config", "ops/settings.ts"],
    );
    expect(ended.code).toBe(0);
    const { files } = JSON.parse(ended.out) as { files: string[] };
    expect(files).toEqual(["ops/settings.ts", "ops/prefix.ts"].map((file) => path.join(cwd, file)));
  });

  test("with a grace that outlasts every supervisor: a warning", async () => {
    const { ended } = await check({
      "waybill.config.ts": good.replace("agents:", "shutdown: { graceMs: 100000 }, agents:"),
    });
    expect(ended.code).toBe(0);
    expect((JSON.parse(ended.out) as { warnings: string[] }).warnings).toEqual([
      expect.stringContaining("shutdown.graceMs") as string,
    ]);
  });
});

describe("settings that cannot be used", () => {
  test("an unknown key, with the nearest, and everything else that is wrong", async () => {
    const text = good.replace("agents:", 'memroy: "shared", locale: "de", agents:');
    const { ended } = await check({ "waybill.config.ts": text });
    expect(ended.code).toBe(5);
    expect(problem(ended)).toMatchObject({
      code: "config_invalid",
      details: {
        issues: [{ field: "locale" }, { field: "memroy", rule: 'is not a setting. Did you mean "memory"?' }],
      },
    });
  });

  test("the same at start, for people, and nothing was opened", async () => {
    const cwd = folder({ "waybill.config.ts": good.replace("agents:", "limit: {}, agents:") });
    const ended = await run(["start", "--port", "0"], { cwd });
    expect(ended).toMatchObject({ code: 5, out: "" });
    expect(ended.err).toContain('limit is not a setting. Did you mean "limits"? [config_invalid]');
  });

  test.each([
    ["in the file", "waybill.config.ts", { "waybill.config.ts": "export default {\n  agents: {,\n};\n" }],
    ["in JavaScript", "waybill.config.mjs", { "waybill.config.mjs": "export default {\n  agents: {,\n};\n" }],
    [
      "in what it imports",
      "agents/support.ts",
      {
        "waybill.config.ts": 'import "./agents/support.ts";',
        "agents/support.ts": "export const a = 1;\n  agents: {,\n",
      },
    ],
    [
      "that only the engine finds",
      "waybill.config.ts",
      { "waybill.config.ts": "let agents: number = 1;\n  let agents = 2;\nexport default {};\n" },
    ],
  ])("a syntax error %s, with its line", async (_where, file, files) => {
    const { cwd, ended } = await check(files as Record<string, string>);
    expect(ended.code).toBe(5);
    const { code, message, details } = problem(ended);
    expect(code).toBe("config_syntax");
    expect(details).toMatchObject({ file: path.join(cwd, file), line: 2 });
    expect(details["column"]).toBeGreaterThan(1);
    expect(details["text"]).toContain("agents");
    // file:line:column in the first line, then the line itself and a caret below it.
    const [first, excerpt, caret] = message.split("\n");
    expect(first).toContain(`${file}:2:${String(details["column"])}`);
    expect(excerpt).toBe(`  2 | ${String(details["text"])}`);
    expect(caret?.indexOf("^")).toBe("  2 | ".length + Number(details["column"]) - 1);
  });

  test("a missing file that was named", async () => {
    const { cwd, ended } = await check({}, ["--config", "nothing.ts"]);
    expect(ended.code).toBe(5);
    expect(problem(ended)).toMatchObject({
      code: "config_not_found",
      details: { file: path.join(cwd, "nothing.ts") },
    });
  });

  test("an error that the file throws, with its line", async () => {
    const { ended } = await check({
      "waybill.config.ts": "export default {};\nconst x: string = nobody.knows;\n",
    });
    expect(problem(ended)).toMatchObject({
      code: "config_invalid",
      details: { line: 2, cause: "nobody is not defined" },
    });
  });

  test("a bad option of an agent, with its line", async () => {
    const { ended } = await check({
      "waybill.config.ts": good.replace("ctx.text)", "ctx.text, { recover: 1 })"),
    });
    expect(problem(ended)).toMatchObject({ code: "config_invalid", details: { line: 3 } });
    expect(problem(ended).message).toContain('Did you mean "recovery"?');
  });

  test("no default export", async () => {
    const { ended } = await check({ "waybill.config.ts": "export const config = 1;" });
    expect(problem(ended)).toMatchObject({ code: "config_invalid", details: { field: "default" } });
  });

  test("a package that is not installed, with the command that installs it", async () => {
    const { ended } = await check({
      "waybill.config.ts": 'import "@scope/nowhere/sub";\nexport default {};',
    });
    expect(problem(ended)).toMatchObject({ code: "missing_package", details: { package: "@scope/nowhere" } });
    expect(problem(ended).message).toContain("npm install @scope/nowhere");
  });

  test("a file of its own that is missing", async () => {
    const { ended } = await check({ "waybill.config.ts": 'import "./gone.ts";\nexport default {};' });
    expect(problem(ended).code).toBe("config_invalid");
    expect(problem(ended).message).toContain("gone.ts");
  });
});
