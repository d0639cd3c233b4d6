import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { binary, root } from "../../scripts/support/paths.ts";
import { runNode } from "../../scripts/support/run.ts";
import { inChromium, startConsole } from "./support/browser.ts";
import { countDeltas } from "./support/count-deltas.ts";
import { ScriptedAgent } from "./support/scripted-agent.ts";

/** The console as it is developed: React in StrictMode runs every effect twice there. */
async function developmentBuild(): Promise<string> {
  const outDir = mkdtempSync(path.join(tmpdir(), "waybill-strict-"));
  onTestFinished(() => rmSync(outDir, { recursive: true, force: true }));
  const config = path.join(root, "console/vite.config.ts");
  const args = ["build", "--config", config, "--mode", "development", "--outDir", outDir];
  const { code, output } = await runNode([binary("vite", "vite"), ...args], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "development" },
    show: false,
  });
  if (code !== 0) throw new Error(output);
  return outDir;
}

inChromium("React in StrictMode", () => {
  test("one question, one answer: sent once, read once, shown once", async () => {
    const consoleDir = await developmentBuild();
    const script = new ScriptedAgent();
    const { context, url } = await startConsole(
      { agents: { writer: script.agent } },
      { gateway: { consoleDir } },
    );
    const deltas = await countDeltas(context);
    const page = await context.newPage();
    const posts: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") posts.push(request.url());
    });
    await page.goto(`${url}/chat/web:main/alpha`);
    await page.getByRole("textbox", { name: "Write a message" }).fill("tell me");
    await page.keyboard.press("Enter");
    const part = script.to("tell me");
    await part.asked;
    const tokens = Array.from({ length: 5 }, (_, n) => `token${n} `);
    part.say(...tokens);
    await page.getByText("token4").waitFor();
    part.end();
    const answer = page.getByRole("article", { name: /^writer, / });
    await answer.waitFor();
    expect(posts).toEqual([`${url}/v1/messages`]);
    expect(await deltas(page)).toEqual(tokens);
    expect(await page.getByRole("article").count()).toBe(2);
    expect((await answer.innerText()).match(/token\d/g)).toEqual(tokens.map((token) => token.trim()));
  });
});
