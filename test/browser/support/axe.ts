import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** `colours`: their contrast only, which takes most of the time; `rest`: all but that. */
export type Look = "all" | "colours" | "rest";

/** What axe finds that is serious or worse, each with where. */
export async function violations(page: Page, look: Look = "all"): Promise<string[]> {
  // There are no frames, and the way that looks for some opens a page for each look.
  const axe = new AxeBuilder({ page: page as never }).setLegacyMode(true);
  if (look === "colours") axe.withRules("color-contrast");
  if (look === "rest") axe.disableRules("color-contrast");
  const { violations: found } = await axe.analyze();
  return found
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(" ")}: ${failureSummary}`),
    );
}

/** How much wider than the window the page is, in pixels. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
