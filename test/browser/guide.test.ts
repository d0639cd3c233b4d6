import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { agent } from "../../src/agents/agent-factory.ts";
import { guideAgents } from "../../src/agents/guide/guide-agents.ts";
import { systemClock, type Clock } from "../../src/kernel/clock.ts";
import { folder, serve, start } from "../cli/process.ts";
import { inChromium, openBrowser, startConsole } from "./support/browser.ts";

const shots = path.resolve(import.meta.dirname, "../../test-results/shots");

const promise = (page: Page, number: number) => page.getByRole("region", { name: `Promise ${number}` });

/** Time that stands still for agents until a test lets it go. */
function heldClock(): { clock: Clock; letGo(): void } {
  let gone = false;
  const held = new Set<() => void>();
  return {
    clock: {
      now: () => systemClock.now(),
      after(ms, call) {
        if (gone) return systemClock.after(0, call);
        held.add(call);
        return () => held.delete(call);
      },
    },
    letGo() {
      gone = true;
      for (const call of held) call();
      held.clear();
    },
  };
}

inChromium("the guide", () => {
  test("shows an answer that stays in its direct message while a channel speaks (ADDR-1)", async () => {
    const { clock, letGo } = heldClock();
    const { window, gateway } = await startConsole({ agents: guideAgents({ clock }) });
    const page = await window("/guide");
    const stays = promise(page, 1);
    await stays.getByRole("button", { name: "Show it" }).click();
    await stays.getByRole("log", { name: "Alice" }).getByText("0 of 15 seconds").waitFor();
    await stays.getByRole("log", { name: "Bob" }).getByText("You said: See you at lunch").waitFor();
    letGo();
    await stays.getByText(/^Promise kept\./).waitFor();
    expect(await stays.getByText(/the channel got 4 answers of its own/).count()).toBe(1);
    expect(await stays.getByRole("log", { name: "Alice" }).innerText()).toContain("That took 15 seconds");
    expect(await stays.getByRole("log", { name: "Bob" }).innerText()).not.toContain("That took 15 seconds");
    const posted = stays.getByRole("listitem").filter({ hasText: "(chosen by: where it was asked)" });
    expect(await posted.count()).toBe(5);
    await posted
      .last()
      .getByRole("link", { name: /^run …/ })
      .click();
    await page.getByRole("heading", { name: "Runs guide" }).waitFor();
    const { body } = await gateway.get<{ items: { kind: string }[] }>("/v1/conversations");
    expect(body.items.map(({ kind }) => kind).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "channel",
      "dm",
    ]);
  });

  test("shows the one notice of a job whose process was killed, over the restart (LEDG-9)", async () => {
    const cwd = folder();
    const { cli, url } = await serve(cwd);
    const context = await openBrowser({ viewport: { width: 1280, height: 1000 } });
    const page = await context.newPage();
    await page.goto(`${url}/guide`);
    const job = promise(page, 2);
    await job.getByRole("button", { name: "Show it" }).click();
    await job.getByText(`kill -9 ${cli.pid}`).waitFor();
    await job.getByText("step 1 of 10").waitFor();
    cli.signal("SIGKILL");
    await cli.ended;
    await job.getByText("The gateway is gone.").waitFor();
    const port = new URL(url).port;
    const again = start(["start", "--port", port, "--log", "silent"], { cwd });
    await again.ready();
    await job.getByText(`Another process answers: ${again.pid}.`, { exact: false }).waitFor();
    await job.getByText(/^Promise kept\./).waitFor();
    const notice = "The gateway stopped while I was working on this";
    expect(await job.getByRole("log", { name: "Alice" }).getByText(notice).count()).toBe(1);
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: path.join(shots, "guide-killed.png") });
    await page.reload();
    await job.getByText(/^Promise kept\./).waitFor();
    onTestFinished(() => again.signal("SIGTERM"));
  });

  test("says what it needs where the gateway has other agents", async () => {
    const { window } = await startConsole({ agents: { echo: agent.fn(() => "hi") } });
    const page = await window("/guide");
    await page.getByText("the built-in guide is not among them").waitFor();
    for (const number of [1, 2]) {
      expect(await promise(page, number).getByRole("button", { name: "Show it" }).isDisabled()).toBe(true);
    }
    expect(await page.getByText("Comes later").count()).toBe(2);
  });
});
