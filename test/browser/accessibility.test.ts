import { expect, test } from "vitest";
import { openPage, startEveryPage } from "./every-page.ts";
import { overflow, violations } from "./support/axe.ts";
import { inChromium } from "./support/browser.ts";

const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** A look takes about a second. What is like another is left to pages.long.test.ts, which looks at all in each way. */
const variants = new Set(["runs-none", "run-failed", "run-live"]);
const inDark = new Set(["chat", "run", "deliveries", "schedules", "guide"]);
const onPhone = new Set(["new", "chat", "runs", "schedules"]);

inChromium("axe finds nothing serious", () => {
  test("on any page: in light, in dark, and on a phone, where nothing is wider than the screen", async () => {
    const { window, url, pages } = await startEveryPage();
    const page = await window("/runs");
    for (const [name, where] of Object.entries(pages)) {
      if (variants.has(name)) continue;
      await page.setViewportSize(desktop);
      await page.emulateMedia({ colorScheme: "light" });
      await openPage(page, `${url}${where}`);
      expect.soft(await violations(page), name).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator("[data-mantine-color-scheme=dark]").waitFor();
      // Nothing but colours is different.
      if (inDark.has(name)) expect.soft(await violations(page, "colours"), `${name} in dark`).toEqual([]);
      await page.setViewportSize(phone);
      if (onPhone.has(name)) {
        expect.soft(await violations(page, "rest"), `${name} on a phone`).toEqual([]);
      }
      expect.soft(await overflow(page), `${name} on a phone`).toBe(0);
    }
  });

  test("in the palette, the question before a stop, and the menus; in Korean", async () => {
    const { window, url, pages } = await startEveryPage({ locale: "ko-KR" });
    const page = await window("/runs");
    for (const name of ["chat", "run", "schedules"] as const) {
      await openPage(page, `${url}${pages[name]}`);
      expect.soft(await violations(page), `${name} in Korean`).toEqual([]);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "이동" }).waitFor();
    expect.soft(await violations(page), "the palette").toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "설정" }).click();
    await page.getByRole("menu").waitFor();
    expect.soft(await violations(page), "the menu").toEqual([]);
    await openPage(page, `${url}${pages.new}`);
    await page.getByRole("button", { name: /운영자/ }).click();
    await page.getByRole("textbox", { name: "다른 사람 이름" }).waitFor();
    expect.soft(await violations(page), "who speaks").toEqual([]);
    await openPage(page, `${url}/runs`);
    await page.getByRole("button", { name: /patient/ }).click();
    await page.getByRole("dialog").waitFor();
    expect.soft(await violations(page), "the question before a stop").toEqual([]);
  });
});
