/** One round: people talk, the process is killed somewhere, another one takes over; then nothing is lost and nothing twice. */
import { expect } from "vitest";
import type { WireAccepted } from "../../src/http/api.ts";
import type { CrashProcess, CrashWorld, Execution, Said } from "./crash-gateway.ts";

/** A message and what came of it; `accepted` is null while no answer came. */
interface Asked {
  said: Said;
  accepted: WireAccepted | null;
}

/** What stood in the ledger when the process was dead. */
export interface AtCrash {
  runs: Awaited<ReturnType<typeof readRuns>>;
  executions: Execution[];
}

const readRuns = (world: CrashWorld) =>
  world.look((k) =>
    k
      .selectFrom("runs")
      .select([
        "id",
        "agent",
        "state",
        "recovery",
        "attempts",
        "foreground",
        "lane",
        "lane_seq",
        "parent_run",
        "reply_to",
        "stream_id",
        "turn_id",
      ])
      .orderBy("lane_seq"),
  );

const readPosts = (world: CrashWorld) =>
  world.look((k) =>
    k
      .selectFrom("messages")
      .select(["address", "post_seq", "role", "text", "run_id", "turn_id", "notice_key", "platform_id"])
      .orderBy("address")
      .orderBy("post_seq"),
  );

const readDeliveries = (world: CrashWorld) =>
  world.look((k) => k.selectFrom("deliveries").select(["id", "run_id", "kind", "state", "address"]));

export class CrashRound {
  readonly #world: CrashWorld;
  readonly #lanes: Asked[][];
  #atCrash: AtCrash[] = [];

  /** @param lanes what is said in each conversation, in order */
  constructor(world: CrashWorld, lanes: readonly (readonly Said[])[]) {
    this.#world = world;
    this.#lanes = lanes.map((lane) => lane.map((said) => ({ said, accepted: null })));
  }

  /** Says what was not answered yet: in each lane one after the other, all lanes at once, until all is said or it died. */
  async speak(process: CrashProcess): Promise<void> {
    await Promise.all(
      this.#lanes.map(async (lane) => {
        for (const asked of lane) {
          if (asked.accepted) continue;
          asked.accepted = await this.#world.say(process, asked.said);
          if (!asked.accepted) return;
        }
      }),
    );
  }

  /** What the platform does that saw no answer, and sometimes though it saw one: sends the same message again. */
  async speakAgain(process: CrashProcess): Promise<void> {
    for (const lane of this.#lanes) {
      for (const { said, accepted } of lane.slice(0, 2)) {
        const again = await this.#world.say(process, said);
        expect(again?.run, `the run of ${said.id}, sent again`).toBe(accepted?.run);
        expect(again?.turn).toBe(accepted?.turn);
      }
    }
  }

  /** Looks at the ledger while no process runs. */
  async noteCrash(): Promise<AtCrash> {
    const found = { runs: await readRuns(this.#world), executions: this.#world.executions() };
    this.#atCrash.push(found);
    return found;
  }

  /** Resolves when nothing is left to do. */
  async settled(process: CrashProcess): Promise<void> {
    await process.until(async () => {
      const [runs, deliveries] = [await readRuns(this.#world), await readDeliveries(this.#world)];
      return (
        runs.every((run) => !["staged", "queued", "running", "waiting"].includes(run.state)) &&
        deliveries.every((one) => one.state !== "pending" && one.state !== "sending")
      );
    });
    expect(process.isDead, "the last process lives").toBe(false);
  }

  /** Holds what is there now against what was said. */
  async verify(process: CrashProcess): Promise<void> {
    const [runs, posts] = [await readRuns(this.#world), await readPosts(this.#world)];
    const asked = this.#lanes.flat();
    for (const { said, accepted } of asked) {
      const at = this.#world.addressOf(said.conversation);
      expect(accepted, `${said.id} was accepted`).not.toBeNull();
      const questions = posts.filter((post) => post.platform_id === said.id && post.address === at);
      expect(questions.length, `${said.id} stands once in ${at}`).toBe(1);
      expect(runs.filter((run) => run.turn_id === accepted?.turn).map((run) => run.id)).toEqual([
        accepted?.run,
      ]);
    }
    expect(runs.filter((run) => run.parent_run === null)).toHaveLength(asked.length);
    for (const run of runs) this.#verifyRun(run, posts);
    for (const lane of this.#lanes) this.#verifyOrder(lane, runs, posts);
    const deliveries = await readDeliveries(this.#world);
    expect(deliveries.filter((one) => one.state !== "delivered")).toEqual([]);
    await this.#verifyPeer(posts);
    await this.#verifyStreams(process, runs, posts);
  }

  #verifyRun(run: AtCrash["runs"][number], posts: Awaited<ReturnType<typeof readPosts>>): void {
    const own = posts.filter((post) => post.run_id === run.id);
    const name = `${run.agent} ${run.id}`;
    const ran = this.#world.executions().filter((one) => one.run === run.id);
    for (const post of own) expect(post.address, `a post of ${name}`).toBe(run.reply_to);
    if (run.state === "cancelled") {
      // Only a job that nobody was told of: its parent died before it said so.
      expect(run.parent_run, `${name} is a job`).not.toBeNull();
      expect([own.length, ran.length, run.attempts]).toEqual([0, 0, 0]);
      return;
    }
    expect(["completed", "interrupted"], `${name} is ${run.state}`).toContain(run.state);
    expect(own.length, `posts of ${name}, which is ${run.state}`).toBe(1);
    expect(own[0]?.notice_key ?? null, `the notice of ${name}`).toBe(
      run.state === "interrupted" ? "run.interrupted" : null,
    );
    const wasClaimed = this.#atCrash.some((at) =>
      at.runs.some((one) => one.id === run.id && one.state === "running"),
    );
    if (run.recovery === "notify") {
      // Who was claimed when the process died is reported, and nobody else.
      expect(run.state === "interrupted", `${name} was claimed: ${wasClaimed}`).toBe(wasClaimed);
      expect(ran.length, `executions of ${name}`).toBeLessThanOrEqual(1);
      if (run.state === "completed") expect(ran.length, `executions of ${name}`).toBe(1);
    } else {
      const gaveUp = wasClaimed && run.attempts >= 3;
      expect(run.state, `${name} may be repeated`).toBe(gaveUp ? run.state : "completed");
      expect(ran.length, `executions of ${name}`).toBeLessThanOrEqual(1 + this.#atCrash.length);
    }
    if (run.state === "completed") {
      const text = ran.at(-1)?.text;
      expect(own[0]?.text).toBe(run.parent_run === null ? `answer to ${text}` : `done: ${text}`);
    }
  }

  /** Answers and notices of a conversation come in the order of what was asked, and its runs began in that order. */
  #verifyOrder(
    lane: readonly Asked[],
    runs: AtCrash["runs"],
    posts: Awaited<ReturnType<typeof readPosts>>,
  ): void {
    const wanted = lane.map(({ accepted }) => accepted?.run ?? "");
    const inLane = runs.filter((run) => wanted.includes(run.id));
    expect(inLane.map((run) => run.id)).toEqual(wanted);
    const answered = posts.filter((post) => wanted.includes(post.run_id ?? "")).map((post) => post.run_id);
    expect(answered, "answers in the order of the questions").toEqual(wanted);
    const firsts = new Set(this.#world.executions().map((one) => one.run));
    const began = [...firsts].filter((run) => wanted.includes(run));
    expect(began, "executions in the order of the questions").toEqual(
      wanted.filter((run) => began.includes(run)),
    );
  }

  /** How often the other program was asked to make one post: more than once, and it needed its key to tell. */
  repeatedPosts(): number {
    const keys = (this.#world.peer?.ops ?? []).map((op) => String(op["key"]));
    return keys.length - new Set(keys).size;
  }

  /** The other program has each post once, in order; what came to it twice it knew by its key. */
  async #verifyPeer(posts: Awaited<ReturnType<typeof readPosts>>): Promise<void> {
    const { peer } = this.#world;
    if (!peer) return;
    await peer.sync();
    for (const conversation of new Set(this.#lanes.flat().map(({ said }) => said.conversation))) {
      const address = this.#world.addressOf(conversation);
      const said = posts.filter((post) => post.address === address && post.role === "assistant");
      expect(peer.texts(conversation), `posts at the other program in ${conversation}`).toEqual(
        said.map((post) => post.text),
      );
      const keys = peer.posts(conversation).map((post) => post.key);
      expect(new Set(keys).size, "keys of posts").toBe(keys.length);
    }
  }

  /** Every run's stream reads as ended, and says what was committed. */
  async #verifyStreams(
    process: CrashProcess,
    runs: AtCrash["runs"],
    posts: Awaited<ReturnType<typeof readPosts>>,
  ): Promise<void> {
    for (const run of runs) {
      const response = await fetch(`${process.url}/v1/stream/${run.stream_id}`);
      expect([response.status, response.headers.get("stream-closed")], `the stream of ${run.id}`).toEqual([
        200,
        "true",
      ]);
      const events = (await response.json()) as { chunk: { type: string; delta?: string; state?: string } }[];
      const text = events.flatMap(({ chunk }) => (chunk.type === "text-delta" ? [chunk.delta] : [])).join("");
      const post = posts.find((one) => one.run_id === run.id);
      if (run.state === "completed") expect(text, `the text of the stream of ${run.id}`).toBe(post?.text);
    }
  }
}
