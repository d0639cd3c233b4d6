/**
 * The console in real Chromium, against a real gateway on a port of its own. Every window notes what its page
 * complained about; a test that ends with complaints that it did not expect has failed.
 */
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import type { WaybillConfig } from "../../../src/gateway/settings.ts";
import { startHttpGateway, type HttpGateway } from "../../support/http-gateway.ts";
import { skipVariables, variables } from "../../support/services.ts";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** A block of tests that need Chromium; skipped with the reason where there is none, a failure with CI=true. */
export function inChromium(name: string, define: () => void): void {
  const missing = process.env[variables.chromium]
    ? null
    : (process.env[skipVariables.chromium] ?? "nobody looked");
  if (missing !== null && process.env["CI"] === "true") {
    test(`${name}: Chromium is there`, () => {
      throw new Error(`With CI=true no browser test may be skipped. No Chromium: ${missing}`);
    });
  }
  const title = missing === null ? name : `${name} skipped: ${missing}`;
  describe(title, { skip: missing !== null }, define);
}

export interface TestConsole {
  url: string;
  gateway: HttpGateway;
  /** The browser: its windows share storage and connections, as those of one person do. */
  context: BrowserContext;
  /** Opens a window at a path. */
  window(where?: string): Promise<Page>;
  /** What pages complained about so far; a test that causes some takes them away. */
  complaints: string[];
}

export interface ConsoleOptions extends BrowserContextOptions {
  gateway?: GatewayOptions;
}

/** Starts a gateway and a browser, both gone when the test is over. */
export async function startConsole(
  config: WaybillConfig,
  options: ConsoleOptions = {},
): Promise<TestConsole> {
  const gateway = await startHttpGateway(config, options.gateway);
  onTestFinished(() => gateway.stop());
  const url = await gateway.listen();
  const complaints: string[] = [];
  const context = await openBrowser(options);
  context.on("page", (page) => listenForComplaints(page, complaints));
  onTestFinished(() => expect(complaints).toEqual([]));
  const window = async (where = "/"): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${url}${where}`);
    return page;
  };
  return { url, gateway, context, window, complaints };
}

let browser: Promise<Browser> | null = null;

/** One Chromium for the tests of a file: starting it takes longer than many of them. */
function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: process.env[variables.chromium] ?? "", args: flags });
  return browser;
}

afterAll(async () => {
  await (await browser)?.close();
});

/** A person's browser: storage, cache and connections of its own, gone when the test is over. */
export async function openBrowser(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (
    await sharedBrowser()
  ).newContext({
    viewport: { width: 1280, height: 800 },
    locale: "en-US",
    ...options,
  });
  context.setDefaultTimeout(20_000);
  onTestFinished(() => context.close());
  return context;
}

function listenForComplaints(page: Page, complaints: string[]): void {
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`${message.text()} (${message.location().url})`);
  });
}
