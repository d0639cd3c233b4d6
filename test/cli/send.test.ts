import { expect, test } from "vitest";
import type { Page, WireMessage, WireSent } from "../../src/http/api.ts";
import { folder, problem, run, say, serve } from "./process.ts";

/** An agent that lends its grant to whoever asks, as an agent's process has it, and stays at work. */
const settings = `
  import { agent, defineConfig } from "waybill";
  export default defineConfig({
    agents: {
      lender: agent.fn(async (ctx) => {
        const grant = await ctx.grant("process:1");
        ctx.stream.data("grant", { ...grant, echo: ctx.echo });
        await ctx.say("here");
        await new Promise((resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      }),
    },
  });
`;

interface Lent {
  token: string;
  url: string;
  echo: string;
}

async function lentOn(url: string, stream: string): Promise<Lent> {
  const answer = await fetch(new URL(`/v1/stream/${stream}?offset=-1&live=sse`, url));
  let text = "";
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const found = /"data":(\{"token":.*?\})/.exec(text);
    if (found) return JSON.parse(found[1]!) as Lent;
  }
  throw new Error(`The run told of no grant: ${text}`);
}

async function said(url: string, address: string): Promise<string[]> {
  const page = (await (
    await fetch(new URL(`/v1/messages?address=${address}`, url))
  ).json()) as Page<WireMessage>;
  return page.items.map(({ text }) => text);
}

test("an agent with only a shell posts where it was asked, by its grant; an operator names the place", async () => {
  const cwd = folder({ "waybill.config.ts": settings });
  const { url } = await serve(cwd);
  const asked = await say(url, { conversation: "dm", text: "hello" });
  const lent = await lentOn(url, asked.stream);
  expect(lent.url).toBe(url);
  const env = { WAYBILL_GRANT: lent.token, WAYBILL_URL: lent.url };
  const elsewhere = folder();
  const sent = await run(["send", "from", "a", "shell", "--json"], { cwd: elsewhere, env });
  expect(JSON.parse(sent.out) as WireSent).toMatchObject({ address: "web:main/dm", run: asked.run });
  const echoed = ["send", "-", "--turn-conversation", lent.echo, "--id", "a"];
  const piped = await run(echoed, { cwd: elsewhere, env, input: "two\nlines\n" });
  expect(piped).toMatchObject({ code: 0, err: "" });
  expect(piped.out).toMatch(/^Posted at web:main\/dm {2}dlv_/);
  await run(echoed, { cwd: elsewhere, env, input: "two\nlines\n" });
  expect(await said(url, "web:main/dm")).toEqual(["hello", "here", "from a shell", "two\nlines"]);

  const refused = await run(["send", "x", "--to", "web:main/general", "--json"], { cwd: elsewhere, env });
  expect([refused.code, problem(refused)]).toMatchObject([4, { code: "cross_post_not_allowed" }]);
  expect(refused.err).not.toContain(lent.token);
  const forged = await run(["send", "x", "--turn-conversation", "#general", "--json"], {
    cwd: elsewhere,
    env,
  });
  expect([forged.code, problem(forged).code]).toEqual([2, "invalid_echo"]);

  const operator = await run(["send", "news", "--to", "web:main/general"], { cwd });
  expect(operator.code).toBe(0);
  expect(await said(url, "web:main/general")).toEqual(["news"]);
});

test("what is missing is said before anything is asked", async () => {
  const cwd = folder();
  const nowhere = await run(["send", "x", "--json"], { cwd });
  expect([nowhere.code, problem(nowhere).code]).toEqual([4, "no_destination"]);
  const empty = await run(["send", "--to", "web:main/a", "--json"], { cwd, input: " \n" });
  expect([empty.code, problem(empty).code]).toEqual([2, "invalid_request"]);
  const env = { WAYBILL_GRANT: "wbg_x" };
  const noServer = await run(["send", "x", "--port", "1", "--json"], { cwd, env });
  expect([noServer.code, problem(noServer).code]).toEqual([6, "no_server"]);
});
