/** What holds for every kind of agent: the same context, the same output, the same ends; and none knows a channel. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Agent, type JsonValue } from "../../src/index.ts";
import { recordingChannel, testGateway, type TestGateway } from "../../src/test-kit/index.ts";

/** One thing that an agent does with a turn. */
export type Act =
  | { text: string }
  | { usage: { inputTokens: number; outputTokens: number } }
  | { hang: true }
  | { fail: string }
  | { data: [name: string, value: JsonValue] }
  | { say: string }
  | { send: [to: string, text: string] }
  | { progress: [text: string, percent: number] }
  | { start: [agent: string, text: string] }
  | { silent: true };

/** An agent of one kind that does what a test says. */
export interface AgentHarness {
  agent(limits?: { tokens: number }): Agent;
  /** What it does when it is asked `text`. It ends its turn by itself after the last act, unless that is `hang` or `fail`. */
  script(text: string, ...acts: Act[]): void;
  /** All that it was given with the latest turn, as text. */
  given(): string;
  /** Resolves when it was told that the turn in which it hangs is over. */
  told(): Promise<unknown>;
  /** Codes of what it was refused. */
  refusals: string[];
  /** The reason of a run that it fails. */
  failure: string;
  stop(): Promise<void>;
}

/**
 * @param acts whether an agent of this kind can do by itself what is beside its answer. A model cannot: its tools are
 * the operator's, and what they do is theirs.
 */
export function agentContract(kind: string, acts: boolean, make: () => Promise<AgentHarness>): void {
  describe(`agent.${kind}`, () => {
    let harness: AgentHarness;
    let t: TestGateway | null;
    beforeEach(async () => {
      harness = await make();
      t = null;
    });
    afterEach(async () => {
      await t?.stop();
      await harness.stop();
    });

    const chat = () => recordingChannel({ kind: "chat" });
    const worker = agent.fn((ctx) => `done: ${ctx.text}`);
    const gateway = async (limits?: { tokens: number }, channels = [chat()]): Promise<TestGateway> =>
      (t = await testGateway({ agents: { subject: harness.agent(limits), worker }, channels }));

    answers(() => harness, gateway);
    ends(() => harness, gateway);
    if (acts) actsBeside(() => harness, gateway);
  });
}

type Open = (
  limits?: { tokens: number },
  channels?: ReturnType<typeof recordingChannel>[],
) => Promise<TestGateway>;

function answers(harness: () => AgentHarness, gateway: Open): void {
  test("answers in deltas, each one as it was said", async () => {
    harness().script("hi", { text: "one " }, { text: "two " }, { text: "three" });
    const g = await gateway();
    const { run } = await g.post("hi");
    const stream = await g.stream(run ?? "");
    await stream.ended;
    expect(stream.deltas).toEqual(["one ", "two ", "three"]);
    expect((await g.posts()).map(({ text }) => text)).toEqual(["one two three"]);
  });

  test("is given what was said before, the ledger's facts, and where the answer is due", async () => {
    harness().script("my cat is Mitzi", { text: "noted" });
    harness().script("what is it called?", { text: "Mitzi" });
    const g = await gateway();
    const first = await g.say("my cat is Mitzi", { sender: { id: "u7", name: "Ada" } });
    await g.say("what is it called?", { sender: { id: "u7", name: "Ada" } });
    const given = harness().given();
    for (const text of ["my cat is Mitzi", "noted", "what is it called?", first.run ?? "", "reply_to"]) {
      expect(given).toContain(text);
    }
    expect(given).toMatch(/web:main\/chat;turn=turn_[^;]+;sig=/);
  });

  test("knows no channel: it answers another one in the same way", async () => {
    const channel = recordingChannel({ kind: "chat" });
    harness().script("hi", { text: "hello" });
    const g = await gateway(undefined, [channel]);
    const said = await g.say("hi", { address: "chat:test/room" });
    expect([said.state, said.text]).toEqual(["completed", "hello"]);
    expect(channel.posts("chat:test/room").map(({ text }) => text)).toEqual(["hello"]);
  });
}

function ends(harness: () => AgentHarness, gateway: Open): void {
  test("is told when its turn is cancelled, and what it does then is no answer", async () => {
    harness().script("hang", { text: "half" }, { hang: true });
    const g = await gateway();
    const { run } = await g.post("hang");
    const stream = await g.stream(run ?? "");
    await stream.saw((chunk) => chunk.type === "text-delta");
    await g.cancel(run ?? "");
    await harness().told();
    expect(await g.ended(run ?? "")).toMatchObject({ state: "cancelled" });
    expect(await g.posts()).toEqual([]);
    harness().script("next", { text: "here" });
    expect((await g.say("next")).text).toBe("here");
  });

  test("fails with a code, and people are told in one sentence without its words", async () => {
    harness().script("fail", { fail: "the secret word" });
    const g = await gateway();
    const said = await g.say("fail");
    expect(said).toMatchObject({ state: "failed", reason: harness().failure });
    expect(said.posts).toHaveLength(1);
    expect(said.text).not.toContain("secret word");
  });

  test("is held to its limits, and its use is stored", async () => {
    harness().script("small", { text: "fine" }, { usage: { inputTokens: 3, outputTokens: 4 } });
    harness().script("big", { text: "far too much" }, { usage: { inputTokens: 300, outputTokens: 4 } });
    const g = await gateway({ tokens: 100 });
    const small = await g.say("small");
    expect((await g.run(small.run ?? "")).usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(await g.say("big")).toMatchObject({ state: "failed", reason: "token_limit" });
  });
}

function actsBeside(harness: () => AgentHarness, gateway: Open): void {
  test("says something before its answer, and shows data and progress", async () => {
    harness().script(
      "hi",
      { say: "wait a moment" },
      { progress: ["half", 50] },
      { data: ["price", { eur: 3 }] },
      { text: "here" },
    );
    const g = await gateway();
    const said = await g.say("hi");
    expect(said.posts.map(({ text }) => text)).toEqual(["wait a moment", "here"]);
    expect(said.posts[1]?.parts).toContainEqual(
      expect.objectContaining({ type: "data", name: "price", value: { eur: 3 } }),
    );
    const kinds = (await g.events(said.run ?? "")).map(({ kind }) => kind);
    expect(kinds).toContain("progress");
  });

  test("starts a job, which answers in the same place", async () => {
    harness().script("go", { start: ["worker", "crunch"] }, { text: "started" });
    const g = await gateway();
    await g.say("go");
    await g.settled();
    expect((await g.posts()).map(({ text }) => text)).toEqual(["started", "done: crunch"]);
  });

  test("is refused another place, with the code; its answer goes where it was asked", async () => {
    harness().script("leak", { send: ["chat:test/general", "psst"] }, { text: "here" });
    const channel = recordingChannel({ kind: "chat" });
    const g = await gateway(undefined, [channel]);
    expect((await g.say("leak")).text).toBe("here");
    expect(harness().refusals).toEqual(["cross_post_not_allowed"]);
    expect(channel.posts()).toEqual([]);
  });

  test("may finish without posting", async () => {
    harness().script("quiet", { text: "not shown" }, { silent: true });
    const g = await gateway();
    expect(await g.say("quiet")).toMatchObject({ state: "completed", posts: [] });
  });
}
