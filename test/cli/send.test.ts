import { expect, test } from "vitest";
import type { Page, WireMessage, WireSent } from "../../src/http/api.ts";
import { folder, problem, run, say, serve, streamEnded } from "./process.ts";

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

/** A process that posts through the tools' door before it answers, with what its environment and its turn gave it. */
const program = `
  import { createInterface } from "node:readline";
  const { WAYBILL_GRANT: token, WAYBILL_URL: url } = process.env;
  const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
  createInterface({ input: process.stdin }).on("line", async (text) => {
    const line = JSON.parse(text);
    if (line.type === "hello") say({ v: 1, type: "ready" });
    if (line.type !== "turn") return;
    const headers = { authorization: "Bearer " + token, "content-type": "application/json" };
    const post = async (body) =>
      (await (await fetch(url + "/v1/sends", { method: "POST", headers, body: JSON.stringify(body) })).json());
    const unsaid = await post({ text: "unsaid" });
    const sent = await post({ text: "tool", turn_conversation: line.reply_to });
    const here = [process.pid, unsaid.code ?? unsaid.address, sent.code ?? sent.address];
    say({ type: "done", turn: line.turn, text: here.join(" ") });
  });
`;

test("one process serves two conversations, and its tools post in the place of each turn", async () => {
  const cwd = folder({
    "agent.mjs": program,
    "waybill.config.ts": `
      import { agent, defineConfig } from "waybill";
      const pool = { max: 1 };
      export default defineConfig({
        agents: { worker: agent.process({ command: process.execPath, args: ["agent.mjs"], pool }) },
      });
    `,
  });
  const { url } = await serve(cwd);
  for (const conversation of ["dm", "room"]) {
    await streamEnded(url, (await say(url, { conversation, text: "hello" })).stream);
  }
  const [dm, room] = [await said(url, "web:main/dm"), await said(url, "web:main/room")];
  const pid = dm.at(-1)!.split(" ")[0];
  expect(dm).toEqual(["hello", "unsaid", "tool", `${pid} web:main/dm web:main/dm`]);
  // From its second conversation on, a call has to say which turn it belongs to.
  expect(room).toEqual(["hello", "tool", `${pid} turn_required web:main/room`]);
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
