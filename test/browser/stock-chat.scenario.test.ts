/** The AI SDK's stock `useChat`, on a page that is not ours, against `/api/chat`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { binary, root } from "../../scripts/support/paths.ts";
import { runNode } from "../../scripts/support/run.ts";
import type { WireMessage } from "../../src/http/api.ts";
import { scenario } from "../spec/scenario.ts";
import { inChromium, startConsole } from "./support/browser.ts";
import { ScriptedAgent } from "./support/scripted-agent.ts";

let consoleDir = "";

beforeAll(async () => {
  consoleDir = mkdtempSync(path.join(tmpdir(), "waybill-stock-"));
  const page = path.join(import.meta.dirname, "stock-chat");
  // The development build of React, since StrictMode does nothing in the other.
  const args = ["build", page, "--mode", "development", "--outDir", consoleDir, "--emptyOutDir"];
  const env = { ...process.env, NODE_ENV: "development" };
  const { code, output } = await runNode([binary("vite", "vite"), ...args], { cwd: root, env, show: false });
  if (code !== 0) throw new Error(output);
});
afterAll(() => rmSync(consoleDir, { recursive: true, force: true }));

/** Every chunk that came over the network to a page by `/api/chat`, in order, with the id of the answer that it is of. */
async function chunksOf(context: BrowserContext): Promise<(page: Page) => Promise<Chunk[]>> {
  await context.addInitScript(() => {
    const seen: unknown[] = [];
    Object.assign(window, { seenChunks: seen });
    const plain = window.fetch;
    window.fetch = async (input, init) => {
      const response = await plain(input, init);
      const { url } = input instanceof Request ? input : new Request(input);
      if (url.includes("/api/chat") && response.body) void note(response.clone());
      return response;
    };
    async function note(response: Response): Promise<void> {
      const text = response.body!.pipeThrough(new TextDecoderStream() as never).getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await text.read().catch(() => ({ done: true, value: "" }));
        if (done) return;
        const lines = `${rest}${String(value)}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data: {")) seen.push(JSON.parse(line.slice(6)));
      }
    }
  });
  return (page) => page.evaluate(() => (window as never as { seenChunks: Chunk[] }).seenChunks);
}

interface Chunk {
  type: string;
  delta?: string;
}

const deltas = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : []));

async function open(id: string) {
  const script = new ScriptedAgent();
  const started = await startConsole({ agents: { writer: script.agent } }, { gateway: { consoleDir } });
  // A library of the page tries whether it may make code at run time, and may not; and the page has no icon.
  onTestFinished(() => {
    const { complaints } = started;
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/script-src|favicon/.test(text)));
  });
  const chunks = await chunksOf(started.context);
  const page = await started.window(`/?id=${id}`);
  const said = async (): Promise<WireMessage[]> => {
    const { body } = await started.gateway.get<{ items: WireMessage[] }>(
      `/v1/messages?address=web:main/${id}`,
    );
    return body.items;
  };
  return { ...started, script, chunks, page, said };
}

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

const answerOn = (page: Page) => page.getByRole("article", { name: "assistant" });
const isReady = (page: Page) => page.getByRole("status").getByText("ready").waitFor();

inChromium("the stock useChat", () => {
  scenario(["ADDR-1"], "two chats with interleaved streams: each token once, in its own chat", async () => {
    const { context, script, chunks, page, url } = await open("alpha");
    const other = await context.newPage();
    await other.goto(`${url}/?id=beta`);
    const [one, two] = [script.to("first"), script.to("second")];
    await ask(page, "first");
    await ask(other, "second");
    await Promise.all([one.asked, two.asked]);
    const tokens = (name: string): string[] => Array.from({ length: 5 }, (_, n) => `${name}${n} `);
    for (let n = 0; n < 5; n += 1) {
      one.say(`a${n} `);
      two.say(`b${n} `);
    }
    one.end();
    two.end();
    await Promise.all([isReady(page), isReady(other)]);
    await answerOn(page).getByText("a4").waitFor();
    await answerOn(other).getByText("b4").waitFor();
    expect([deltas(await chunks(page)), deltas(await chunks(other))]).toEqual([tokens("a"), tokens("b")]);
    expect([await answerOn(page).allInnerTexts(), await answerOn(other).allInnerTexts()]).toEqual([
      [tokens("a").join("").trim()],
      [tokens("b").join("").trim()],
    ]);
  });

  scenario(
    ["STRM-9"],
    "a reload in mid-stream goes on with the same answer, each token once; nothing is generated twice",
    async () => {
      const { script, page, said } = await open("alpha");
      const part = script.to("tell me");
      await ask(page, "tell me");
      await part.asked;
      part.say("one ", "two ");
      await answerOn(page).getByText("two").waitFor();
      await page.reload();
      await answerOn(page).getByText("one two").waitFor();
      part.say("three");
      part.end();
      await answerOn(page).getByText("one two three").waitFor();
      await isReady(page);
      expect(await answerOn(page).allInnerTexts()).toEqual(["one two three"]);
      expect((await said()).map(({ role, text }) => [role, text])).toEqual([
        ["user", "tell me"],
        ["assistant", "one two three"],
      ]);
      // Nothing runs any more: a reload shows what was committed, and no stream begins.
      await page.reload();
      await answerOn(page).getByText("one two three").waitFor();
      await isReady(page);
      expect(await answerOn(page).count()).toBe(1);
    },
  );

  scenario(
    ["STRM-10"],
    "what is stopped ends there, and the next question is answered below it",
    async () => {
      const { script, page, said } = await open("alpha");
      const stopped = script.to("tell me");
      await ask(page, "tell me");
      const { signal } = await stopped.asked;
      stopped.say("one ");
      await answerOn(page).getByText("one").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await isReady(page);
      // The hook only stops reading; the page of a resumable chat says it to the server too.
      await page.evaluate(() => fetch("/api/chat/alpha/stop", { method: "POST" }));
      if (!signal.aborted) {
        await new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
      }
      stopped.say("too late");
      const next = script.to("and now?");
      await ask(page, "and now?");
      await next.asked;
      next.say("now this");
      next.end();
      await answerOn(page).getByText("now this").waitFor();
      await isReady(page);
      expect((await answerOn(page).allInnerTexts()).join(" | ")).not.toContain("too late");
      expect((await said()).filter(({ role }) => role === "assistant").map(({ text }) => text)).toEqual([
        "now this",
      ]);
    },
  );
});
