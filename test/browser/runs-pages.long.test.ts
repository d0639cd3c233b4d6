/**
 * Every page of runs, deliveries and the guide, in each look: axe finds nothing serious, nothing is wider than the
 * window, and a picture of it is left in test-results/shots.
 */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { guideAgents } from "../../src/agents/guide/guide-agents.ts";
import type { WireDelivery, Page as WirePage } from "../../src/http/api.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { operatorSeed, seedAll } from "./operator-seed.ts";
import { inChromium, startConsole } from "./support/browser.ts";

const shots = path.resolve(import.meta.dirname, "../../test-results/shots");

const looks = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ["korean", { locale: "ko-KR" }],
] as const;

/** What axe finds that is serious or worse, each with where. */
async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page: page as never }).analyze();
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
    );
}

/** How much wider than the window the page is. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

inChromium("the pages of runs, deliveries and the guide", () => {
  test.each(looks)("in the look %s", async (look, options) => {
    mkdirSync(shots, { recursive: true });
    const seed = operatorSeed();
    const config = {
      ...seed.config,
      agents: { ...seed.config.agents, ...guideAgents({ clock: systemClock }) },
    };
    const { window, gateway, url } = await startConsole(config, {
      ...options,
      gateway: { clock: seed.clock },
    });
    const all = await seedAll(gateway, seed);
    const dead = await gateway.get<WirePage<WireDelivery>>("/v1/deliveries?state=dead");
    const pages = {
      runs: "/runs",
      "runs-none": "/runs?text=nobody+asked+this",
      stuck: "/runs?view=stuck",
      run: `/runs/${all.boss.run}`,
      "run-failed": `/runs/${all.failed.run}`,
      "run-live": `/runs/${all.going.run}`,
      deliveries: "/deliveries",
      delivery: `/deliveries/${dead.body.items[0]?.id}`,
      guide: "/guide",
    };
    const page = await window("/runs");
    for (const [name, where] of Object.entries(pages)) {
      await page.goto(`${url}${where}`);
      await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
      await page.getByRole("status", { name: /^(Loading|불러오는 중)$/ }).waitFor({ state: "detached" });
      expect.soft(await violations(page), `${name} in ${look}`).toEqual([]);
      expect.soft(await overflow(page), `${name} in ${look}`).toBe(0);
      await page.screenshot({ path: path.join(shots, `${name}-${look}.png`) });
    }
    await page.goto(`${url}/runs`);
    await page.getByRole("button", { name: /patient/ }).click();
    await page.getByRole("dialog").waitFor();
    expect.soft(await violations(page), `the question before a stop in ${look}`).toEqual([]);
    await page.screenshot({ path: path.join(shots, `stop-${look}.png`) });
  });
});
