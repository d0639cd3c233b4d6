/**
 * Eight things that an operator wants, each in at most three interactions from an open conversation, found by
 * accessible names, on a desktop and on a phone, in English and Korean.
 */
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { renderText, type Locale, type TextKey } from "../../src/texts/render.ts";
import { operatorSeed, seedAll } from "./operator-seed.ts";
import { inChromium, startConsole } from "./support/browser.ts";

const most = 3;

type Say = <K extends TextKey>(
  key: K,
  ...values: Parameters<typeof renderText<K>> extends [unknown, unknown, ...infer Rest] ? Rest : never
) => string;

/** A person at the console: each click, typing or key is counted. */
class Operator {
  readonly page: Page;
  readonly t: Say;
  readonly #phone: boolean;
  count = 0;

  constructor(page: Page, locale: Locale, phone: boolean) {
    this.page = page;
    this.t = ((key: TextKey, values: never) => renderText(locale, key, values)) as Say;
    this.#phone = phone;
  }

  async click(target: Locator): Promise<void> {
    this.count += 1;
    await target.click();
  }

  async type(target: Locator, text: string): Promise<void> {
    this.count += 1;
    await target.fill(text);
  }

  async press(key: string): Promise<void> {
    this.count += 1;
    await this.page.keyboard.press(key);
  }

  /** One interaction on a desktop, two on a phone, where the pages are in the menu. */
  async openPage(label: TextKey & `console.page.${string}`): Promise<void> {
    if (this.#phone) await this.click(this.page.getByRole("button", { name: this.t("console.menu") }));
    await this.click(this.page.getByRole("link", { name: this.t(label), exact: true }));
  }

  run(text: string): Locator {
    return this.page
      .getByRole("table", { name: this.t("console.page.runs") })
      .getByRole("row")
      .filter({ hasText: text });
  }

  button(key: TextKey, values?: Record<string, string>): Locator {
    const say = this.t as (key: TextKey, values?: Record<string, string>) => string;
    return this.page.getByRole("button", { name: say(key, values) });
  }

  sees(text: string): Promise<void> {
    return this.page.getByText(text).first().waitFor();
  }
}

type Seeded = Awaited<ReturnType<typeof seedAll>>;

interface Task {
  name: string;
  /** The conversation that is open when it begins. */
  at: string;
  run(operator: Operator, all: Seeded): Promise<void>;
}

/** The way from an answer of an agent to its run. */
const openRun = (operator: Operator, agent: string, run: string | null): Locator =>
  operator.page
    .getByRole("article", { name: new RegExp(`^${agent}`) })
    .getByRole("link", { name: operator.t("console.chat.open_run", { run: run?.slice(-6) ?? "" }) })
    .first();

/** What changes something comes last, since the others look at it. */
const tasks: Task[] = [
  {
    name: "why is this here",
    at: "alice",
    async run(operator, { answered }) {
      await operator.click(openRun(operator, "helper", answered.run));
      await operator.sees(operator.t("console.why.turn"));
    },
  },
  {
    name: "what is stuck",
    at: "alice",
    async run(operator) {
      await operator.openPage("console.page.runs");
      await operator.click(operator.button("console.runs.view.stuck"));
      await operator.sees("Read the long report");
      await operator.sees("the number is not in use");
    },
  },
  {
    name: "who asked",
    at: "alice",
    async run(operator) {
      await operator.openPage("console.page.runs");
      const asked = operator.t("console.runs.asked_by", { name: "Bob" });
      await operator.run("Print the poster").getByText(asked).waitFor();
    },
  },
  {
    name: "what failed and why",
    at: "alice",
    async run(operator) {
      await operator.openPage("console.page.runs");
      await operator.click(operator.run("Print the poster").getByRole("link", { name: "broken" }));
      await operator.sees("The printer is on fire.");
    },
  },
  {
    name: "find a conversation",
    at: "alice",
    async run(operator) {
      const { page, t } = operator;
      const menu = operator.button("console.menu");
      if (await menu.isVisible()) {
        await operator.click(menu);
        const drawer = page.getByRole("dialog");
        await operator.type(drawer.getByRole("searchbox", { name: t("console.chat.search") }), "shop");
        await operator.click(drawer.getByRole("link", { name: /workshop/ }));
      } else {
        await operator.press("Control+k");
        await operator.type(page.getByRole("combobox", { name: t("console.palette") }), "shop");
        await operator.press("Enter");
      }
      await operator.sees("How many boxes are there?");
    },
  },
  {
    name: "open the run behind an answer",
    at: "workshop",
    async run(operator, { boss }) {
      await operator.click(openRun(operator, "boss", boss.run));
      await operator.page.getByRole("article", { name: operator.t("console.story.answer") }).waitFor();
      expect(operator.page.url()).toContain(`/runs/${boss.run}`);
    },
  },
  {
    name: "retry that",
    at: "alice",
    async run(operator) {
      await operator.openPage("console.page.runs");
      await operator.click(operator.button("console.runs.retry_named", { agent: "broken" }));
      await operator.run("Print the poster").getByText(operator.t("console.runs.state.completed")).waitFor();
    },
  },
  {
    name: "stop this",
    at: "library",
    async run(operator) {
      const going = operator.page.getByRole("article", {
        name: operator.t("console.chat.being_written", { name: "patient" }),
      });
      await operator.click(going.getByRole("button", { name: operator.t("console.chat.stop") }));
      await going.waitFor({ state: "detached" });
    },
  },
];

const screens = [
  { name: "desktop", phone: false, options: {} },
  {
    name: "phone",
    phone: true,
    options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  },
] as const;

const languages = [
  { locale: "en", tag: "en-US" },
  { locale: "ko", tag: "ko-KR" },
] as const;

inChromium("an operator's task takes at most three interactions", () => {
  describe.each(screens)("on a $name", ({ phone, options }) => {
    test.each(languages)("in $locale", async ({ locale, tag }) => {
      const seed = operatorSeed();
      const { window, gateway } = await startConsole(seed.config, {
        ...options,
        locale: tag,
        gateway: { clock: seed.clock },
      });
      const all = await seedAll(gateway, seed);
      seed.broken.now = false;
      const taken: [task: string, interactions: number][] = [];
      for (const task of tasks) {
        const page = await window(`/chat/web:main/${task.at}`);
        await page.getByRole("article").first().waitFor();
        const operator = new Operator(page, locale, phone);
        await task.run(operator, all).catch((error: unknown) => {
          throw new Error(`${task.name}: it could not be done.`, { cause: error });
        });
        taken.push([task.name, operator.count]);
        await page.close();
      }
      expect(taken).toHaveLength(8);
      expect(taken.filter(([, count]) => count < 1 || count > most)).toEqual([]);
    });
  });
});
