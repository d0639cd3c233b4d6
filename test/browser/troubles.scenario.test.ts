import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Page } from "playwright-core";
import { agent } from "../../src/agents/agent-factory.ts";
import { serveGateway } from "../../src/gateway/serve-gateway.ts";
import { readEnvironment, type ServerSettings } from "../../src/gateway/environment.ts";
import { scenario } from "../spec/scenario.ts";
import { inChromium, openBrowser, startConsole } from "./support/browser.ts";
import { cuttable } from "./support/cuttable.ts";
import { ScriptedAgent } from "./support/scripted-agent.ts";

const echo = agent.fn(async (ctx) => `You said: ${ctx.text}`);

const log = (page: Page) => page.getByRole("log", { name: "Messages" });

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.keyboard.press("Enter");
}

inChromium("troubles", () => {
  test("a server with a token is asked once a window, and a wrong token is refused", async () => {
    const { window, complaints } = await startConsole(
      { agents: { echo } },
      { gateway: { token: "secret-token" } },
    );
    const page = await window("/chat/web:main/alpha");
    const dialog = page.getByRole("dialog", { name: "This gateway asks for its token" });
    await dialog.getByLabel("Access token").fill("wrong");
    await page.keyboard.press("Enter");
    await dialog.getByText("This token was refused.").waitFor();
    await dialog.getByLabel("Access token").fill("secret-token");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await say(page, "let me in");
    await log(page).getByText("You said: let me in").waitFor();
    await page.reload();
    await log(page).getByText("You said: let me in").waitFor();
    expect(await dialog.count()).toBe(0);
    const other = await window("/chat/web:main/alpha");
    await other.getByRole("dialog", { name: "This gateway asks for its token" }).waitFor();
    expect(complaints.every((one) => one.includes("401"))).toBe(true);
    complaints.length = 0;
  });

  test("a gateway that is stopped in mid-answer and started again: offline, then its notice, and asking again", async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), "waybill-browser-"));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }));
    const script = new ScriptedAgent();
    const start = (port: number) =>
      serveGateway({ agents: { writer: script.agent } }, settingsOf(dataDir, port));
    const first = await start(0);
    const context = await openBrowser();
    const page = await context.newPage();
    await page.goto(`${first.url}/chat/web:main/alpha`);
    await say(page, "tell me");
    script.to("tell me").say("so far");
    await log(page).getByText("so far").waitFor();
    await first.stop();
    await page.getByText("The gateway cannot be reached. Trying again").waitFor();
    await say(page, "while it was away");
    await page.getByText("This was not sent: the gateway cannot be reached.").waitFor();
    const second = await start(first.port);
    onTestFinished(() => second.stop());
    await log(page).getByText("The gateway stopped while I was working on this").waitFor();
    await page.getByText("The gateway cannot be reached. Trying again").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Send again" }).click();
    script.to("while it was away").say("now it came");
    script.to("while it was away").end();
    await log(page).getByText("now it came").waitFor();
    expect(await log(page).getByText("while it was away").count()).toBe(1);
  });

  scenario(
    ["STRM-9"],
    "a connection that is cut again and again loses no token, and shows none twice",
    async () => {
      const script = new ScriptedAgent();
      const { context, url, complaints } = await startConsole({ agents: { writer: script.agent } });
      const way = await cuttable(url);
      onTestFinished(() => way.close());
      const page = await context.newPage();
      await page.goto(`${way.url}/chat/web:main/alpha`);
      await say(page, "count");
      const part = script.to("count");
      for (let n = 0; n < 60; n += 1) {
        part.say(`${n} `);
        if (n % 20 !== 10) continue;
        await log(page)
          .getByText(`${n - 1} ${n}`)
          .waitFor();
        way.cut({ keepOut: n === 30 });
        if (n === 30) {
          part.say("while it was cut ");
          await page.getByText("The gateway cannot be reached. Trying again").waitFor();
          way.mend();
        }
      }
      part.end();
      const answer = page.getByRole("article", { name: /^writer, / });
      await answer.waitFor();
      const expected = Array.from({ length: 60 }, (_, n) => (n === 30 ? "30 while it was cut" : String(n)));
      expect(await answer.innerText()).toContain(expected.join(" "));
      expect(await log(page).getByRole("article").count()).toBe(2);
      // Chromium writes down each connection that it lost.
      expect(complaints.filter((one) => !one.includes("net::ERR_"))).toEqual([]);
      complaints.length = 0;
    },
  );

  test("a server of another version says: reload", async () => {
    const { context, url } = await startConsole({ agents: { echo } });
    const page = await context.newPage();
    await page.route("**/healthz", (route) => route.fulfill({ json: { ok: true, version: "99.0.0" } }));
    await page.goto(`${url}/chat`);
    await page.getByText("The gateway has another version than this page.").waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();
  });

  test("eight windows of one browser: each is answered, although it has six connections", async () => {
    const { window, script } = await (async () => {
      const scripted = new ScriptedAgent();
      return { ...(await startConsole({ agents: { writer: scripted.agent } })), script: scripted };
    })();
    const pages: Page[] = [];
    for (let n = 0; n < 8; n += 1) pages.push(await window(`/chat/web:main/place-${n}`));
    for (const [n, page] of pages.entries()) {
      await say(page, `question ${n}`);
      script.to(`question ${n}`).say(`begun ${n}`);
    }
    for (const [n, page] of pages.entries()) await log(page).getByText(`begun ${n}`).waitFor();
    for (const n of pages.keys()) {
      script.to(`question ${n}`).say(", done");
      script.to(`question ${n}`).end();
    }
    for (const [n, page] of pages.entries()) {
      await page
        .getByRole("article", { name: /^writer, / })
        .getByText(`begun ${n}, done`)
        .waitFor();
      expect(await log(page).getByRole("article").count()).toBe(2);
    }
  });

  test("what is said elsewhere is counted as unread until it is opened, in all windows", async () => {
    const { window, gateway } = await startConsole({ agents: { echo } });
    const [a, b] = [await window("/chat/web:main/alpha"), await window("/chat/web:main/beta")];
    await say(a, "first");
    await log(a).getByText("You said: first").waitFor();
    await gateway.post("/v1/messages", { conversation: "gamma", text: "look here" });
    for (const page of [a, b]) {
      await page.getByRole("link", { name: "gamma 2 unread messages" }).waitFor();
      await page.waitForFunction(() => /^\(\d+\) Waybill$/.test(document.title));
    }
    await a.getByRole("link", { name: /^gamma/ }).click();
    await log(a).getByText("You said: look here").waitFor();
    await b.getByRole("link", { name: "gamma", exact: true }).waitFor();
  });
});

function settingsOf(dataDir: string, port: number): ServerSettings {
  return { ...readEnvironment({}, {}, dataDir), dataDir, port, graceMs: 0 };
}
