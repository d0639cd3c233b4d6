import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { folder, run, say, start, streamEnded, write, type Cli } from "./process.ts";

const settings = `
  import { agent, defineConfig } from "waybill";
  import { greeting } from "./lib/greeting.ts";
  export default defineConfig({ agents: { hi: agent.fn(async () => greeting) } });
`;
const files = { "waybill.config.ts": settings, "lib/greeting.ts": 'export const greeting = "one";' };

async function answerOf(url: string): Promise<string> {
  const { stream } = await say(url, { conversation: "a", text: "x" });
  return streamEnded(url, stream);
}

function dev(cwd: string, args: readonly string[] = []): Cli {
  return start(["dev", "--port", "0", "--log", "silent", ...args], { cwd });
}

/** Does something and waits until the gateway is ready again. */
async function reloaded(cli: Cli, change: () => void): Promise<string> {
  const from = cli.out.length;
  change();
  return cli.ready(from);
}

describe("waybill dev", () => {
  test("starts anew when what the settings import is saved, on the same port, and says what changed", async () => {
    const cwd = folder(files);
    const cli = dev(cwd);
    const url = await cli.ready();
    expect(await answerOf(url)).toContain("one");
    const again = await reloaded(cli, () =>
      write(cwd, { "lib/greeting.ts": 'export const greeting = "two";' }),
    );
    expect(again).toBe(url);
    expect(await answerOf(url)).toContain("two");
    expect(cli.err).toContain(`changed: ${path.join("lib", "greeting.ts")}`);
    // Editors write beside the file and put that in its place.
    await reloaded(cli, () => {
      writeFileSync(path.join(cwd, "lib/.greeting.tmp"), 'export const greeting = "three";');
      renameSync(path.join(cwd, "lib/.greeting.tmp"), path.join(cwd, "lib/greeting.ts"));
    });
    expect(await answerOf(url)).toContain("three");
    cli.signal("SIGTERM");
    expect((await cli.ended).code).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  });

  test("goes on with what runs when the settings are broken, shows the line, and takes the repair", async () => {
    const cwd = folder(files);
    const cli = dev(cwd);
    const url = await cli.ready();
    write(cwd, { "lib/greeting.ts": "export const x = 1;\nexport const greeting = ;" });
    await cli.says(/greeting\.ts:2:25: .*\[config_syntax\]\n {2}2 \| export const greeting = ;\n/, "err");
    await cli.says(/goes on with the settings before/, "err");
    expect(await answerOf(url)).toContain("one");
    const again = await reloaded(cli, () =>
      write(cwd, { "lib/greeting.ts": 'export const greeting = "two";' }),
    );
    expect(again).toBe(url);
    expect(await answerOf(url)).toContain("two");
  });

  test("begins with broken settings too, and waits for the repair", async () => {
    const cwd = folder({ ...files, "lib/greeting.ts": "export const greeting = ;" });
    const cli = dev(cwd);
    await cli.says(/waiting for a change/, "err");
    const url = await reloaded(cli, () => write(cwd, files));
    expect(await answerOf(url)).toContain("one");
  });

  test("begins with the guide, and takes settings that appear, and .env", async () => {
    const cwd = folder();
    const cli = dev(cwd);
    const url = await cli.ready();
    expect(await answerOf(url)).toContain("You said: x");
    mkdirSync(path.join(cwd, "lib"));
    writeFileSync(path.join(cwd, "lib/greeting.ts"), "export const greeting = process.env.GREETING ?? 'no';");
    await reloaded(cli, () => write(cwd, { "waybill.config.ts": settings }));
    expect(await answerOf(url)).toContain('"no"');
    await reloaded(cli, () => write(cwd, { ".env": "GREETING=Servus" }));
    expect(await answerOf(url)).toContain("Servus");
    await reloaded(cli, () => rmSync(path.join(cwd, ".env")));
    expect(await answerOf(url)).toContain('"no"');
  });

  test("ends when the gateway cannot start for another reason than its settings", async () => {
    const cwd = folder({ file: "x" });
    const ended = await run(["dev", "--port", "0", "--data", "file/data"], { cwd });
    expect(ended.code).toBe(5);
    expect(ended.err).toContain("[data_folder_unusable]");
  });

  test("leaves no gateway behind, even when it is killed", async () => {
    const cwd = folder(files);
    const cli = dev(cwd);
    const url = await cli.ready();
    cli.signal("SIGKILL");
    await cli.ended;
    // The gateway hears that its parent is gone. Each question is answered or refused, so nothing is waited for blindly.
    const answers = async () => (await fetch(`${url}/healthz`).catch(() => null)) !== null;
    while (await answers());
  });
});
