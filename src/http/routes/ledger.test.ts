import { expect, test } from "vitest";
import { gate, httpGateway } from "../../../test/support/http-gateway.ts";
import { agent } from "../../agents/agent-factory.ts";
import type {
  Page,
  WireDelivery,
  WireNode,
  WireProblem,
  WireRun,
  WireRunEvent,
  WireStatus,
  WireStory,
} from "../api.ts";

function agents() {
  const hold = gate();
  const failing = { now: true };
  return {
    hold,
    failing,
    config: {
      agents: {
        echo: agent.fn(async (ctx) => `You said: ${ctx.text}`),
        hold: agent.fn(async (ctx) => {
          await ctx.progress("half done", 50);
          await Promise.race([
            hold.opened,
            new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
          ]);
          return "held";
        }),
        flaky: agent.fn(async () => {
          if (failing.now) throw new Error("not now");
          return "well";
        }),
        wanderer: agent.fn(async (ctx) => {
          await ctx.send("web:main/elsewhere", "psst").catch(() => {});
          return "I stay here";
        }),
      },
    },
  };
}

test("status tells what the ledger knows of a place, live runs first, in words too", async () => {
  const { config, hold } = agents();
  const gateway = await httpGateway(config);
  const first = await gateway.post("/v1/messages", { conversation: "a", text: "one", agent: "echo" });
  await gateway.ended(first.body.run);
  const progressed = gateway.hint((one) => one.kind === "run" && one.state === "running");
  const live = await gateway.post("/v1/messages", { conversation: "a", text: "two", agent: "hold" });
  await progressed;
  const { body } = await gateway.get<WireStatus>("/v1/status?address=web:main/a");
  expect(body.runs.map((run) => run.id)).toEqual([live.body.run, first.body.run]);
  expect(body.text).toMatch(/^hold: working on it for /);
  const thread = await gateway.get<WireStatus>("/v1/status?address=web:main/a/t1");
  expect([thread.status, thread.body]).toEqual([
    200,
    {
      address: "web:main/a/t1",
      runs: [],
      text: "There is no record of a run in this conversation.",
    },
  ]);
  const one = await gateway.get<WireStatus>(`/v1/status?run=${first.body.run}&locale=ko`);
  expect(one.body).toMatchObject({ address: "web:main/a", runs: [{ id: first.body.run }] });
  expect(one.body.text).toMatch(/^echo: .* 끝났습니다\.$/);
  hold.open();
});

test("a run is told with where it was asked, is due and was posted", async () => {
  const gateway = await httpGateway(agents().config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "hi" });
  await gateway.ended(body.run);
  const run = await gateway.get<WireRun>(`/v1/runs/${body.run}`);
  expect(run.body).toMatchObject({
    id: body.run,
    agent: "echo",
    state: "completed",
    reason: null,
    turn: body.turn,
    root: body.run,
    parent: null,
    origin: "web:main/a",
    replyTo: "web:main/a",
    postedIn: "web:main/a",
    attempts: 1,
    stream: body.stream,
    background: false,
    text: "hi",
    sender: { id: "operator" },
  });
  for (const at of [run.body.createdAt, run.body.startedAt, run.body.finishedAt]) {
    expect(new Date(at ?? "").toISOString()).toBe(at);
  }
  const events = await gateway.get<Page<WireRunEvent>>(`/v1/runs/${body.run}/events`);
  expect(events.body.items.map(({ seq, kind }) => [seq, kind])).toEqual([
    [1, "queued"],
    [2, "claimed"],
    [3, "completed"],
  ]);
});

test("runs are listed by state, agent and address, newest first, in pages", async () => {
  const { config, hold } = agents();
  const gateway = await httpGateway(config);
  const runs: string[] = [];
  for (const name of ["echo", "flaky", "echo"]) {
    const { body } = await gateway.post("/v1/messages", { conversation: name, text: "hi", agent: name });
    await gateway.ended(body.run);
    runs.unshift(body.run ?? "");
  }
  const list = async (query: string) => {
    const { body } = await gateway.get<Page<WireRun>>(`/v1/runs${query}`);
    return { ids: body.items.map((run) => run.id), next: body.next };
  };
  expect((await list("")).ids).toEqual(runs);
  expect((await list("?state=failed,running")).ids).toEqual([runs[1]]);
  expect((await list("?agent=echo")).ids).toEqual([runs[0], runs[2]]);
  expect((await list("?address=web:main/flaky&limit=1000")).ids).toEqual([runs[1]]);
  const first = await list("?limit=2");
  expect(first.ids).toEqual(runs.slice(0, 2));
  expect(await list(`?limit=2&next=${first.next}`)).toEqual({ ids: runs.slice(2), next: null });
  hold.open();
});

test("the process that answers says who it is, as its runs do, and what agents it has", async () => {
  const { config } = agents();
  const gateway = await httpGateway(config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const run = await gateway.get<WireRun>(`/v1/runs/${body.run}`);
  const events = await gateway.get<Page<WireRunEvent>>(`/v1/runs/${body.run}/events`);
  const node = (await gateway.get<WireNode>("/v1/node")).body;
  expect(node).toMatchObject({ pid: process.pid, defaultAgent: "echo" });
  expect(node.agents.map(({ name, background }) => [name, background])).toEqual([
    ["echo", false],
    ["hold", false],
    ["flaky", false],
    ["wanderer", false],
  ]);
  expect(node.agents[0]?.version).toBe(run.body.agentVersion);
  expect(events.body.items.find(({ kind }) => kind === "claimed")?.data).toMatchObject({ owner: node.boot });
});

test("a run says what it may use at most", async () => {
  const limits = { tokens: 1_000, wallMs: 60_000 };
  const gateway = await httpGateway({ agents: { echo: agent.fn(async () => "hi", { limits }) } });
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  expect((await gateway.get<WireRun>(`/v1/runs/${body.run}`)).body.limits).toEqual(limits);
});

test("a cancelled run stays cancelled; one that has ended cannot be", async () => {
  const { config } = agents();
  const gateway = await httpGateway(config);
  const started = gateway.hint((one) => one.kind === "run" && one.state === "running");
  const live = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "hold" });
  await started;
  const queued = await gateway.post("/v1/messages", { conversation: "a", text: "y", agent: "hold" });
  expect((await gateway.post(`/v1/runs/${queued.body.run}/cancel`)).body).toMatchObject({
    run: queued.body.run,
    how: "cancelled",
  });
  const cancel = await gateway.post(`/v1/runs/${live.body.run}/cancel`);
  expect([cancel.status, cancel.body]).toMatchObject([202, { run: live.body.run, how: "asked" }]);
  expect(await gateway.ended(live.body.run)).toBe("cancelled");
  expect((await gateway.post(`/v1/runs/${live.body.run}/cancel`)).body.code).toBe("run_finished");
});

test("a failed run can be asked again; one that completed not", async () => {
  const { config, failing } = agents();
  const gateway = await httpGateway(config);
  const first = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "flaky" });
  expect(await gateway.ended(first.body.run)).toBe("failed");
  failing.now = false;
  const again = await gateway.post(`/v1/runs/${first.body.run}/retry`);
  expect(again.status).toBe(202);
  expect(await gateway.ended(again.body.run)).toBe("completed");
  expect((await gateway.post(`/v1/runs/${again.body.run}/retry`)).body.code).toBe("run_not_retryable");
});

test("a delivery says why it went there, what was refused before, and what proves it", async () => {
  const gateway = await httpGateway(agents().config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x", agent: "wanderer" });
  await gateway.ended(body.run);
  const list = await gateway.get<Page<WireDelivery>>(`/v1/deliveries?run=${body.run}&state=delivered`);
  expect(list.body.items).toHaveLength(1);
  const [listed] = list.body.items;
  const one = await gateway.get<WireDelivery>(`/v1/deliveries/${listed?.id}`);
  expect(one.body).toEqual(listed);
  expect(one.body).toMatchObject({
    run: body.run,
    turn: body.turn,
    address: "web:main/a",
    state: "delivered",
    rule: "turn",
    rejected: [{ address: "web:main/elsewhere", reason: "cross_post_not_allowed" }],
    receipts: [{ address: "web:main/a" }],
  });
  expect(one.body.why).toMatch(
    /^It goes to web:main\/a because the turn it answers \(turn_.*web:main\/elsewhere was refused/,
  );
  expect((await gateway.get<Page<WireDelivery>>("/v1/deliveries?state=dead")).body.items).toEqual([]);
  const retry = await gateway.post(`/v1/deliveries/${listed?.id}/retry`);
  expect([retry.status, retry.body.code]).toEqual([409, "delivery_not_retryable"]);
});

test("why finds the story by any of its ids", async () => {
  const gateway = await httpGateway(agents().config);
  const { body } = await gateway.post("/v1/messages", {
    conversation: "a b",
    text: "where do you go?",
    id: "mine-1",
    agent: "wanderer",
    sender: { id: "u1", name: "Uma" },
  });
  await gateway.ended(body.run);
  const why = async (id: string) =>
    (await gateway.get<WireStory & WireProblem>(`/v1/why/${encodeURIComponent(id)}`)).body;
  const story = await why(body.run ?? "");
  const [delivery] = story.deliveries;
  const ids: [string, string][] = [
    [body.turn, "turn"],
    [body.stream ?? "", "stream"],
    [body.message, "message"],
    [delivery?.id ?? "", "delivery"],
    [delivery?.message ?? "", "message"],
    [story.runs[0]?.trace ?? "", "trace"],
    [`${body.address}#mine-1`, "message"],
    [`${body.address}#${delivery?.message}`, "message"],
    ["mine-1", "message"],
  ];
  for (const [id, found] of ids) {
    expect(await why(id)).toMatchObject({
      id,
      found,
      runs: [{ id: body.run }],
      turns: [{ id: body.turn, message: { text: "where do you go?" } }],
    });
  }
  expect(story.text).toEqual([
    expect.stringMatching(/^Turn turn_.* asked by Uma in web:main\/a%20b at .*: "where do you go\?"\.$/),
    expect.stringMatching(
      /^Run run_.* of wanderer \(completed\): its answer is due in web:main\/a%20b; it was posted in/,
    ),
    expect.stringMatching(/queued .*, claimed .*, send_refused .*, completed /),
    expect.stringMatching(
      /tried to send to web:main\/elsewhere, which was refused: cross_post_not_allowed\. It was told to use web:main\/a%20b\./,
    ),
    expect.stringMatching(
      /^Delivery dlv_.* \(final, delivered\): It goes to web:main\/a%20b because the turn/,
    ),
  ]);
  for (const id of ["run_nope", "msg_nope", "web:main/a#nope", "https://x.example/p1", "%"]) {
    expect((await why(id)).code).toBe("not_found");
  }
});

test("why tells of a reserved word too: a turn and its reply, without a run", async () => {
  const gateway = await httpGateway(agents().config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "help" });
  const story = (await gateway.get<WireStory>(`/v1/why/${body.turn}`)).body;
  expect(story).toMatchObject({
    found: "turn",
    runs: [],
    deliveries: [{ kind: "reply", state: "delivered" }],
  });
});

test("a send goes to its explicit target, once for one id", async () => {
  const gateway = await httpGateway(agents().config);
  const send = { to: "web:main/news", text: "extra", id: "s-1" };
  const first = await gateway.post<{ delivery: string }>("/v1/sends", send);
  expect([first.status, first.body]).toMatchObject([202, { address: "web:main/news", state: "delivered" }]);
  const again = await gateway.post<{ delivery: string }>("/v1/sends", send);
  expect(again.body).toEqual(first.body);
  const other = await gateway.post("/v1/sends", { ...send, text: "other" });
  expect(other.body.code).toBe("idempotency_conflict");
  const { body } = await gateway.get<WireDelivery>(`/v1/deliveries/${first.body.delivery}`);
  expect(body).toMatchObject({ rule: "explicit", run: null, turn: null });
});

test("a send in the name of a run keeps to the rules of its turn, and is told what to use", async () => {
  const gateway = await httpGateway(agents().config);
  const { body } = await gateway.post("/v1/messages", { conversation: "a", text: "x" });
  await gateway.ended(body.run);
  const sent = await gateway.post("/v1/sends", { to: "web:main/b", text: "x", run: body.run });
  expect([sent.status, sent.body]).toMatchObject([
    403,
    { code: "cross_post_not_allowed", use: "web:main/a", address: "web:main/b" },
  ]);
});
