import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { operatorSeed, seedAll } from "./operator-seed.ts";
import { inChromium, startConsole } from "./support/browser.ts";

async function seeded() {
  const seed = operatorSeed();
  const console = await startConsole(seed.config, { gateway: { clock: seed.clock } });
  return { ...console, seed, all: await seedAll(console.gateway, seed) };
}

const rows = (page: Page) => page.getByRole("table", { name: "Deliveries" }).getByRole("row");

inChromium("the deliveries", () => {
  test("are filtered by state, place and run, in the URL", async () => {
    const { window, url, all } = await seeded();
    const page = await window("/deliveries");
    await page.getByText("5 deliveries").waitFor();
    await page.getByRole("button", { name: "Dead" }).click();
    await page.getByText("1 delivery", { exact: true }).waitFor();
    const dead = await rows(page).last().innerText();
    for (const text of [
      "Dead",
      "1 attempt",
      "the number is not in use",
      "5550100",
      "phone",
      "where it was asked",
    ]) {
      expect(dead).toContain(text);
    }
    expect(new URL(page.url()).search).toBe("?state=dead");
    await page.getByRole("button", { name: "Unknown" }).click();
    await page.getByText("No delivery fits these filters.").waitFor();
    await page.getByRole("button", { name: "All" }).click();
    await page.getByRole("combobox", { name: "Place" }).selectOption("web:main/workshop");
    await page.getByText("3 deliveries").waitFor();
    await page.goto(`${url}/deliveries?run=${all.boss.run}`);
    await page.getByText("1 delivery", { exact: true }).waitFor();
    await page.getByRole("button", { name: /^Remove the filter of run …/ }).click();
    await page.getByText("5 deliveries").waitFor();
  });

  test("one tells why it went there, what was sent, what proves it; and is sent again (LEDG-14)", async () => {
    const { window, seed } = await seeded();
    const page = await window("/deliveries?state=dead");
    await rows(page)
      .last()
      .getByRole("link", { name: /^Answer/ })
      .click();
    await page.getByText("It was given up. It went nowhere else.").waitFor();
    const main = page.getByRole("main");
    expect(await main.innerText()).toContain("There is none: nothing proves that it is there.");
    expect(await main.innerText()).toContain("is where it was asked.");
    await main.getByText("Call me back").waitFor();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText(/^It was delivered after/).waitFor();
    await page.getByRole("button", { name: "Copy: the platform's id" }).waitFor();
    expect(seed.phone.posts()).toHaveLength(1);
    await page.getByRole("link", { name: /^run …/ }).click();
    await page.getByRole("heading", { name: "Runs helper" }).waitFor();
  });

  test("one of which nobody knows whether it was posted says so", async () => {
    const { window, gateway, seed } = await seeded();
    seed.phone.script({ kind: "unclear", reason: "the line went dead" });
    const settled = gateway.hint((one) => one.kind === "delivery");
    await seed.phone.receive("5550111", "Are you there?");
    await settled;
    const page = await window("/deliveries");
    await page.getByRole("button", { name: "Unknown" }).click();
    await rows(page)
      .filter({ hasText: "5550111" })
      .getByRole("link", { name: /^Answer/ })
      .click();
    await page.getByText("Whether it was posted is not known.").waitFor();
  });

  test("of an id that is not there says so", async () => {
    const { window, complaints } = await startConsole(operatorSeed().config);
    const page = await window("/deliveries/dlv_nowhere");
    await page.getByRole("alert").getByText("There is no delivery dlv_nowhere.").waitFor();
    complaints.splice(0);
  });
});
