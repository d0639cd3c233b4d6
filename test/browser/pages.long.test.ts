/** Every page in each look: axe finds nothing serious, nothing is wider than the window; pictures in test-results/shots. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openPage, startEveryPage } from "./every-page.ts";
import { overflow, violations } from "./support/axe.ts";
import { inChromium } from "./support/browser.ts";

const shots = path.resolve(import.meta.dirname, "../../test-results/shots");

const looks = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
  ["korean", { locale: "ko-KR" }],
] as const;

inChromium("every page", () => {
  test.each(looks)("in the look %s", async (look, options) => {
    mkdirSync(shots, { recursive: true });
    const { window, url, pages } = await startEveryPage(options);
    const page = await window("/runs");
    for (const [name, where] of Object.entries(pages)) {
      await openPage(page, `${url}${where}`);
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
