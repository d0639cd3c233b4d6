/** Pooled command line agents: real processes, reused by one conversation after another, and never mixing them. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { agent } from "../../src/index.ts";
import { type SayOptions, recordingChannel } from "../../src/test-kit/index.ts";
import { docExamples, missingProgram } from "../support/process-agents/doc-examples.ts";
import { isAlive, makePuppets, type HeldTurn, type Puppets } from "../support/process-agents/puppets.ts";
import { eachStore, type TestStore } from "../support/stores.ts";
import { scenario } from "./scenario.ts";
import { gatewayOn, type SpecGateway, told } from "./support.ts";

let puppets: Puppets;
beforeEach(async () => {
  puppets = await makePuppets();
});
afterEach(() => puppets[Symbol.asyncDispose]());

const dm: SayOptions = { conversation: "dm", sender: "ada" };
const room: SayOptions = { conversation: "room", kind: "channel", sender: "bob" };

/** What a process may do beside its lines: a request of its own with the grant of its environment. */
async function tool(t: SpecGateway, by: HeldTurn, body: object): Promise<Record<string, unknown>> {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${by.puppet.env["WAYBILL_GRANT"]}`,
  };
  const answer = await t.fetch("/v1/sends", { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

const noPython = missingProgram("python3");
if (noPython !== null && process.env["CI"] === "true") {
  test("python3 is there", () => {
    throw new Error(`With CI=true nothing may be skipped: ${noPython}`);
  });
}

/** A DM and a channel share a process, and each line, tool and refusal stays with its own turn. */
async function handsBack(store: TestStore, memory: "conversation" | "shared"): Promise<void> {
  const chat = recordingChannel({ kind: "chat" });
  const helper = agent.process(puppets.options({ pool: { max: 1, concurrentTurns: 2 } }));
  await using t = await gatewayOn(store, { agents: { helper }, channels: [chat], memory });
  await t.post("first", dm);
  const first = await puppets.turn("first");
  expect(first.line["reply_to"]).toMatch(/^web:main\/dm;turn=turn_/);
  // Somebody speaks elsewhere while the DM is thought about, and the same process answers there too.
  const second = await t.post("second", {
    address: "chat:test/general",
    sender: "bob",
    kind: "channel",
  });
  const other = await puppets.turn("second");
  expect(other.puppet).toBe(first.puppet);
  const environment = JSON.stringify(other.puppet.env);
  for (const value of ["web:main/dm", "chat:test/general", first.id, other.id, second.turn]) {
    expect(environment).not.toContain(value);
  }
  // By a line, by a tool with the echo, and after a refusal: always the turn's own place.
  first.say({ type: "send", id: 1, to: "chat:test/general", text: "LEAK" });
  expect(await first.puppet.line("error")).toMatchObject({
    turn: first.id,
    code: "cross_post_not_allowed",
    details: { use: "web:main/dm" },
  });
  first.say({ type: "send", id: 2, text: "without a target" });
  const echo = first.line["reply_to"];
  expect(await tool(t, first, { text: "by a tool", turn_conversation: echo })).toMatchObject({
    address: "web:main/dm",
  });
  // Two turns are live, and a tool that does not say which is guessed for neither.
  expect(await tool(t, first, { text: "LEAK" })).toMatchObject({ code: "turn_required" });
  await first.puppet.line("result", ({ id }) => id === 2);
  other.answer("for the channel");
  await t.ended(second.run ?? "");
  first.answer("for the DM");
  await t.settled();
  expect(
    told(await t.posts("web:main/dm"))
      .map(([, text]) => text)
      .toSorted(),
  ).toEqual(["without a target", "by a tool", "for the DM"].toSorted());
  expect(chat.posts().map(({ address, text }) => [address, text])).toEqual([
    ["chat:test/general", "for the channel"],
  ]);
  // What is remembered together is given to the process, and changes no address.
  await t.post("third", { address: "chat:test/general", sender: "bob" });
  const third = await puppets.turn("third");
  const remembered = JSON.stringify(third.line["history"]);
  expect(remembered.includes("for the DM")).toBe(memory === "shared");
  third.answer("to the channel again");
  await t.settled();
  expect(chat.posts().at(-1)).toMatchObject({ text: "to the channel again" });
}

eachStore((store) => {
  scenario(
    ["AGNT-1", "AGNT-2"],
    "the examples of docs/protocol.md answer, each with one process for all conversations",
    async (context) => {
      const { examples, dispose } = await docExamples();
      if (noPython !== null) await context.annotate(`without Python: ${noPython}`);
      const known = examples.filter(({ name }) => name !== "python" || noPython === null);
      const agents = Object.fromEntries(
        known.map(({ name, command, args }) => [name, agent.process({ command, args, pool: { max: 1 } })]),
      );
      await using t = await gatewayOn(store, { agents });
      for (const name of Object.keys(agents)) {
        const said = [
          await t.say("hello there", { ...dm, agent: name }),
          await t.say("good day", { ...room, agent: name }),
        ];
        const wanted = {
          python: ["You said: hello there", "You said: good day"],
          js: ["HELLO THERE ", "GOOD DAY "],
          sh: Array(2).fill(`It is ${new Date().getFullYear()}.`),
        }[name];
        expect(said.map(({ text }) => text)).toEqual(wanted);
      }
      if (noPython === null) {
        const work = await t.say("work", { ...dm, agent: "python" });
        expect(work.posts.map(({ text }) => text)).toEqual(["This takes a while.", "You said: work"]);
      }
      const metrics = await (await t.fetch("/metrics")).text();
      for (const name of Object.keys(agents)) {
        expect(metrics).toContain(`waybill_agent_starts{agent="${name}"} 1\n`);
      }
      await dispose();
    },
  );

  scenario(
    ["AGNT-2", "ADDR-9"],
    "one process with two turns at once: what it says lands by the turn that it names, and by nothing else",
    async () => {
      const pool = { max: 1, concurrentTurns: 2 };
      await using t = await gatewayOn(store, {
        agents: { helper: agent.process(puppets.options({ pool })) },
      });
      const asked = [await t.post("private?", dm), await t.post("public?", room)];
      const [inDm, inRoom] = [await puppets.turn("private?"), await puppets.turn("public?")];
      expect(inDm.puppet).toBe(inRoom.puppet);
      const process = inDm.puppet;
      inRoom.say({ type: "text", text: "for " });
      inDm.say({ type: "text", text: "only " });
      inRoom.say({ type: "say", id: 1, text: "said in the room" });
      inDm.say({ type: "say", id: 1, text: "said in the DM" });
      inDm.say({ type: "done", text: "you" });
      await t.ended(asked[0]?.run ?? "");
      // One turn is left, and still nothing is taken to be meant for it.
      process.say({ type: "text", text: "LEAK without a turn" });
      process.say({ type: "say", id: 2, text: "LEAK without a turn" });
      inDm.say({ type: "text", text: "LEAK after the end" });
      inDm.say({ type: "say", id: 3, text: "LEAK after the end" });
      process.say({ type: "done", turn: "run_of-nobody-1", text: "LEAK to nobody" });
      inRoom.answer("all");
      await t.ended(asked[1]?.run ?? "");
      await t.settled();
      expect(told(await t.posts("web:main/dm"))).toEqual([
        ["web:main/dm", "said in the DM"],
        ["web:main/dm", "only you"],
      ]);
      expect(told(await t.posts("web:main/room"))).toEqual([
        ["web:main/room", "said in the room"],
        ["web:main/room", "for all"],
      ]);
      expect(JSON.stringify(await t.messages())).not.toContain("LEAK");
      expect(await (await t.fetch("/metrics")).text()).toContain(
        'waybill_agent_lines_dropped{agent="helper"} 5\n',
      );
    },
  );

  scenario(
    ["AGNT-2", "LEDG-15"],
    "a process that crashes fails its own run only, with its signal, and the next turn has a new one",
    async () => {
      const helper = agent.process(puppets.options({ pool: { max: 2 } }));
      await using t = await gatewayOn(store, { agents: { helper } });
      const asked = [await t.post("one", dm), await t.post("two", room)];
      const [one, two] = [await puppets.turn("one"), await puppets.turn("two")];
      one.say({ type: "text", text: "half an ans" });
      one.puppet.order({ kind: "kill", signal: "SIGKILL" });
      expect(await t.ended(asked[0]?.run ?? "")).toMatchObject({ state: "failed", reason: "agent_crashed" });
      two.answer("whole");
      await t.ended(asked[1]?.run ?? "");
      const third = await t.post("three", dm);
      (await puppets.turn("three")).answer("again");
      await t.ended(third.run ?? "");
      await t.settled();
      expect((await t.posts()).map(({ address, notice, text }) => [address, notice ?? text])).toEqual([
        ["web:main/dm", "run.failed"],
        ["web:main/room", "whole"],
        ["web:main/dm", "again"],
      ]);
      const log = t.logs.find(({ fields }) => fields["code"] === "agent_crashed");
      expect(log?.fields["detail"]).toContain("signal SIGKILL");
    },
  );

  scenario(
    ["AGNT-2", "LEDG-17"],
    "stop reaches the process, which is reused once it has obeyed",
    async () => {
      const helper = agent.process(puppets.options({ pool: { max: 1 } }));
      await using t = await gatewayOn(store, { agents: { helper } });
      const asked = await t.post("long", dm);
      const long = await puppets.turn("long");
      await t.say("stop", dm);
      expect(await t.ended(asked.run ?? "")).toMatchObject({ state: "cancelled" });
      expect(await long.puppet.line("cancel")).toMatchObject({ turn: long.id, reason: "cancel" });
      long.say({ type: "say", id: 1, text: "too late" });
      const next = await t.post("next", room);
      long.say({ type: "done", text: "much too late" });
      const after = await puppets.turn("next");
      expect(after.puppet).toBe(long.puppet);
      after.answer("fine");
      await t.ended(next.run ?? "");
      await t.settled();
      const texts = (await t.posts()).map(({ text }) => text);
      expect(texts).toContain("fine");
      expect(texts.join()).not.toContain("too late");
    },
  );

  scenario(
    ["ADDR-3", "AGNT-2", "ADDR-6"],
    "what a reused process hands back goes where its turn was asked, with a memory for each conversation",
    () => handsBack(store, "conversation"),
  );

  scenario(
    ["ADDR-3", "AGNT-2", "ADDR-6"],
    "what a reused process hands back goes where its turn was asked, with one memory shared by all",
    () => handsBack(store, "shared"),
  );

  scenario(["AGNT-2", "LEDG-8"], "a gateway that stops leaves no process behind", async () => {
    const helper = agent.process(puppets.options({ pool: { max: 2 } }));
    await using t = await gatewayOn(store, { agents: { helper }, shutdown: { graceMs: 1 } });
    await t.post("one", dm);
    const one = await puppets.turn("one");
    const grandchild = await puppets.grandchild(one.puppet);
    const two = await t.post("two", room);
    (await puppets.turn("two")).answer("done");
    await t.ended(two.run ?? "");
    await t.restart({ graceMs: 1 });
    expect(puppets.all.filter((puppet) => isAlive(puppet.pid))).toEqual([]);
    await puppets.until("the end of the grandchild", () => !grandchild.lives || undefined);
    expect((await t.posts("web:main/dm")).map(({ notice }) => notice)).toEqual(["run.interrupted"]);
    const three = await t.post("three", dm);
    (await puppets.turn("three")).answer("here again");
    expect(await t.ended(three.run ?? "")).toMatchObject({ state: "completed" });
  });
});
