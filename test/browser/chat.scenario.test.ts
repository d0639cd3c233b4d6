import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { scenario } from "../spec/scenario.ts";
import { inChromium, startConsole, type TestConsole } from "./support/browser.ts";
import { countDeltas } from "./support/count-deltas.ts";
import { ScriptedAgent } from "./support/scripted-agent.ts";

async function withScript(): Promise<TestConsole & { script: ScriptedAgent }> {
  const script = new ScriptedAgent();
  return { ...(await startConsole({ agents: { writer: script.agent } })), script };
}

/** Says something in the open conversation. */
async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Write a message" }).fill(text);
  await page.keyboard.press("Enter");
}

const log = (page: Page) => page.getByRole("log", { name: "Messages" });
const articles = (page: Page) => log(page).getByRole("article");

inChromium("the chat", () => {
  scenario(
    ["ADDR-1"],
    "two windows, two conversations, interleaved streams: each answer in its own place",
    async () => {
      const { window, script, context } = await withScript();
      const deltas = await countDeltas(context);
      const [a, b] = [await window("/chat/web:main/alpha"), await window("/chat/web:main/beta")];
      await say(a, "question of alpha");
      await say(b, "question of beta");
      const [alpha, beta] = [script.to("question of alpha"), script.to("question of beta")];
      await Promise.all([alpha.asked, beta.asked]);
      for (let n = 0; n < 20; n += 1) {
        alpha.say(`a${n} `);
        beta.say(`b${n} `);
      }
      await log(a).getByText("a18 a19", { exact: false }).waitFor();
      await log(b).getByText("b18 b19", { exact: false }).waitFor();
      beta.end();
      alpha.end();
      for (const [page, own, other] of [
        [a, "a", "b"],
        [b, "b", "a"],
      ] as const) {
        const tokens = Array.from({ length: 20 }, (_, n) => `${own}${n} `);
        await page.getByRole("article", { name: /^writer, / }).waitFor();
        expect(await deltas(page)).toEqual(tokens);
        expect(await articles(page).count()).toBe(2);
        expect(await articles(page).last().innerText()).toContain(tokens.join("").trim());
        expect(await log(page).innerText()).not.toContain(`${other}1`);
      }
    },
  );

  scenario(
    ["STRM-9"],
    "a reload in mid-stream shows the answer from its beginning and goes on, each token once",
    async () => {
      const { window, script } = await withScript();
      const page = await window("/chat/web:main/alpha");
      await say(page, "tell me");
      const part = script.to("tell me");
      await part.asked;
      part.say("one ", "two ");
      await log(page).getByText("one two").waitFor();
      await page.reload();
      await log(page).getByText("one two").waitFor();
      part.say("three ", "four");
      await log(page).getByText("one two three four").waitFor();
      part.end();
      await page.getByRole("article", { name: /^writer, / }).waitFor();
      const said = await log(page).innerText();
      expect(said.match(/one two three four/g)).toHaveLength(1);
    },
  );

  test("two windows on one conversation stay in step: what one sends and what is answered is in both", async () => {
    const { window, script } = await withScript();
    const [a, b] = [await window("/chat/web:main/alpha"), await window("/chat/web:main/alpha")];
    await say(a, "from the first window");
    script.to("from the first window").say("to both");
    for (const page of [a, b]) await log(page).getByText("to both").waitFor();
    script.to("from the first window").end();
    for (const page of [a, b]) {
      await page.getByRole("article", { name: /^writer, / }).waitFor();
      expect(await articles(page).count()).toBe(2);
    }
  });

  test("an answer is stopped, and a failed one is asked again", async () => {
    const { window, script } = await withScript();
    const page = await window("/chat/web:main/alpha");
    await say(page, "stop me");
    script.to("stop me").say("so far");
    await log(page).getByText("so far").waitFor();
    await page.getByRole("button", { name: "Stop the answer" }).click();
    await log(page).getByText("The answer was stopped before it was finished.").waitFor();
    await say(page, "break");
    script.to("break").fail();
    await log(page).getByText("Something went wrong").waitFor();
    await page.getByRole("button", { name: "Ask again" }).last().click();
    script.to("break").say("this time it works");
    script.to("break").end();
    await log(page).getByText("this time it works").waitFor();
  });

  test("who speaks can be switched, and a thread is opened from a message", async () => {
    const { window, script } = await withScript();
    const page = await window("/chat/web:main/alpha");
    await page.getByRole("button", { name: "You speak as Operator" }).click();
    await page.getByRole("textbox", { name: "Somebody else's name" }).fill("Alice");
    await page.keyboard.press("Enter");
    await say(page, "I am Alice");
    expect((await script.to("I am Alice").asked).sender).toMatchObject({ id: "alice", name: "Alice" });
    script.to("I am Alice").say("Hello, Alice");
    script.to("I am Alice").end();
    const answer = page.getByRole("article", { name: /^writer, / });
    await answer.hover();
    await answer.getByRole("button", { name: "Answer in a thread" }).click();
    const thread = page.getByRole("region", { name: "Thread", exact: true });
    await thread.getByRole("textbox", { name: "Write a message" }).fill("in the thread");
    await page.keyboard.press("Enter");
    script.to("in the thread").say("only here");
    script.to("in the thread").end();
    await thread.getByRole("article", { name: /^writer, / }).waitFor();
    await page.getByRole("button", { name: "2 messages in its thread" }).waitFor();
    expect(await log(page).first().innerText()).not.toContain("only here");
  });

  scenario(
    ["CHAN-3"],
    "people see life: who works, how far it is, the answer as it grows, and it is finished in its place",
    async () => {
      const { window, script } = await withScript();
      const page = await window("/chat/web:main/alpha");
      const part = script.to("read it");
      await say(page, "read it");
      const ctx = await part.asked;
      const live = page.getByRole("article", { name: "writer is working on an answer" });
      await live.getByText("working").waitFor();
      await ctx.progress("read 3 of 12 pages", 25);
      await live.getByText("read 3 of 12 pages").waitFor();
      expect(await live.getByRole("progressbar").getAttribute("value")).toBe("25");
      part.say("It begins ");
      await live.getByText("It begins").waitFor();
      part.say("and ends.");
      await live.getByText("It begins and ends.").waitFor();
      part.end();
      await page
        .getByRole("article", { name: /^writer, / })
        .getByText("It begins and ends.")
        .waitFor();
      await live.waitFor({ state: "detached" });
      expect(await articles(page).count()).toBe(2);
    },
  );

  scenario(["CHAN-4"], "files come by button, drop and paste, and reach the agent", async () => {
    const { window, script } = await withScript();
    const page = await window("/chat/web:main/alpha");
    const field = page.getByRole("textbox", { name: "Write a message" });
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("some notes") });
    for (const kind of ["drop", "paste"] as const) await field.evaluate(giveFile, kind);
    const files = page.getByRole("list", { name: "Files of this message" }).getByRole("listitem");
    await files.nth(2).waitFor();
    await page.getByRole("button", { name: "Remove drop.png" }).click();
    await say(page, "look at these");
    const { message } = await script.to("look at these").asked;
    script.to("look at these").end();
    const given = message.parts.filter((part) => part.type === "file");
    expect(given.map(({ filename, mediaType }) => [filename, mediaType])).toEqual([
      ["notes.txt", "text/plain"],
      ["paste.png", "image/png"],
    ]);
    expect(given[0]?.url).toBe(`data:text/plain;base64,${Buffer.from("some notes").toString("base64")}`);
    await log(page).getByRole("link", { name: "Download notes.txt" }).waitFor();
    await log(page).getByRole("img", { name: "paste.png" }).waitFor();
    await page.locator("input[type=file]").setInputFiles({
      name: "large.bin",
      mimeType: "application/octet-stream",
      buffer: Buffer.alloc(1_100_000),
    });
    await page.getByText("This is too large for one message").waitFor();
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  });

  scenario(
    ["LEDG-17"],
    "a slash offers the words that always work, and Enter sends the one that is chosen",
    async () => {
      const { window } = await withScript();
      const page = await window("/chat/web:main/alpha");
      await page.getByRole("textbox", { name: "Write a message" }).fill("/st");
      await page.getByRole("option", { name: /^\/stop/ }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await log(page).getByText("Nothing is running here.").waitFor();
    },
  );

  test("a job's result and what others post arrive by themselves", async () => {
    const script = new ScriptedAgent();
    const { window, gateway } = await startConsole({ agents: { writer: script.agent } });
    const page = await window("/chat/web:main/alpha");
    await say(page, "first");
    script.to("first").end();
    await gateway.post("/v1/messages", {
      conversation: "alpha",
      sender: { id: "bob", name: "Bob" },
      text: "and me",
    });
    await page.getByRole("article", { name: /^Bob, / }).waitFor();
    script.to("and me").say("hello Bob");
    script.to("and me").end();
    await log(page).getByText("hello Bob").waitFor();
  });
});

/** Hands a small picture to the field, as a drop or a paste would. Runs in the page. */
function giveFile(field: Element, kind: "drop" | "paste"): void {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array([137, 80, 78, 71])], `${kind}.png`, { type: "image/png" }));
  const event =
    kind === "drop"
      ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
      : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
  field.dispatchEvent(event);
}
