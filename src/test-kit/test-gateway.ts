import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurnOfTheLoop } from "node:timers/promises";
import { formatAddress, parentOf, parseAddress } from "../address/address.ts";
import type { ConversationKind } from "../address/kind.ts";
import { webAccount } from "../channels/web/web-channel.ts";
import { placeOf } from "../deliveries/plan-delivery.ts";
import { listConversations, type ConversationRecord } from "../deliveries/read-conversations.ts";
import type { RetrySettings } from "../deliveries/outbox.ts";
import type { Parts } from "../gateway/build.ts";
import { httpPorts } from "../gateway/http-ports.ts";
import type { WireStory } from "../http/api.ts";
import { openSource } from "../http/stream-source.ts";
import { RunningGateway, type Gateway } from "../gateway/create-gateway.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import type { WaybillConfig } from "../gateway/settings.ts";
import type { ErrorCode } from "../kernel/error-codes.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { ManualClock } from "../kernel/clock.ts";
import { isTerminal, type MessagePart, type RunState } from "../ledger/run.ts";
import { readPlaceRuns } from "../ledger/place-runs.ts";
import { listRuns, readRun, type RunFilter, type RunRecord } from "../ledger/read-runs.ts";
import { sayStatus } from "../ledger/say-status.ts";
import type { Accepted, IncomingMessage } from "../turns/incoming.ts";
import { captureStream, type CapturedStream } from "./capture-stream.ts";
import { Hints } from "./hints.ts";
import {
  countOpen,
  readDeliveries,
  readEvents,
  readMessages,
  type TestDelivery,
  type TestMessage,
  type TestRunEvent,
} from "./read-store.ts";
import { recordingLogger, type LogLine } from "./recording-logger.ts";

/** Attempts to deliver come quickly after one another, so that a test need not wait. */
const quickRetry: Partial<RetrySettings> = { attempts: 5, firstMs: 1, mostMs: 20 };

const LONG_LEASE_MS = 30 * 24 * 3_600_000;

export interface SayOptions {
  /** Conversation of the web channel. Default `chat`. */
  conversation?: string;
  /** A thread of it; any id. */
  thread?: string;
  /** A whole address instead, for other channels. */
  address?: string;
  /** How wide the conversation is. Default: as it was told before, else `dm`. */
  kind?: ConversationKind;
  /** Who speaks. Default `tester`. */
  sender?: string | { id: string; name: string | null };
  /** The platform's id of the message; the same again is the same message. Default: a new one. */
  id?: string;
  agent?: string;
  parts?: MessagePart[];
  /** What the channel could not take, and why; the person is told. */
  leftOut?: IncomingMessage["leftOut"];
  /** Answer anew what was asked before: a new turn without a new message. */
  regenerate?: boolean;
}

/** What came of a message. */
export interface Said extends Accepted {
  /** How its run ended; `replied` where no run was needed. */
  state: RunState | "replied";
  reason: string | null;
  /** The text of the answer, notice or reply; empty where nothing was posted. */
  text: string;
  /** Everything that was posted for this turn, here and elsewhere. */
  posts: TestMessage[];
}

export interface TestGatewayOptions extends Omit<GatewayOptions, "clock"> {
  /** Time that the test moves by hand. Left out: the system's. */
  clock?: ManualClock;
}

/** A gateway to be driven by a test. */
export class TestGateway implements AsyncDisposable {
  /** What the gateway logged, unless a logger was given. */
  readonly logs: LogLine[] = [];
  readonly clock: ManualClock | null;
  readonly #config: WaybillConfig;
  readonly #options: TestGatewayOptions;
  readonly #folder: string;
  readonly #hints = new Hints();
  #running: Promise<RunningGateway>;
  readonly #kinds = new Map<string, ConversationKind>();
  #messages = 0;
  #stopped: Promise<void> | null = null;

  /** Use `testGateway`. */
  constructor(config: WaybillConfig, options: TestGatewayOptions, folder: string) {
    this.#config = config;
    this.#folder = folder;
    this.clock = options.clock ?? null;
    const retry = { ...quickRetry, ...options.retry };
    // A jump of a manual clock must not look like a process that slept through its lease.
    const lease = options.clock ? { leaseMs: LONG_LEASE_MS } : {};
    this.#options = { dataDir: folder, log: recordingLogger(this.logs), ...lease, ...options, retry };
    this.#running = this.#start();
  }

  async #start(): Promise<RunningGateway> {
    const gateway = new RunningGateway(this.#config, this.#options);
    await gateway.start();
    this.#hints.follow(gateway.parts.feed);
    return gateway;
  }

  async #parts(): Promise<Parts> {
    return (await this.#running).parts;
  }

  /** The gateway as a program that embeds it has it; after a restart it is another one. */
  async gateway(): Promise<Gateway> {
    const running = await this.#running;
    return {
      fetch: (request) => running.fetch(request),
      start: () => running.start(),
      stop: (how) => running.stop(how?.graceMs),
    };
  }

  /** Resolves when it has started. */
  async ready(): Promise<this> {
    await this.#running;
    return this;
  }

  /** Answers an HTTP request, as `gateway.fetch` does. A path is taken as of `http://127.0.0.1`. */
  async fetch(request: string | Request, init?: RequestInit): Promise<Response> {
    const gateway = await this.#running;
    const isPath = typeof request === "string" && request.startsWith("/");
    return gateway.fetch(new Request(isPath ? `http://127.0.0.1${request}` : request, init));
  }

  /**
   * Says something as a person and waits until its run has ended and what it posted is settled.
   * @throws WaybillError as the inbox does: `sender_not_allowed`, `unknown_agent`, `idempotency_conflict`, ...
   */
  async say(text: string, options: SayOptions = {}): Promise<Said> {
    const accepted = await this.post(text, options);
    const run = accepted.run === null ? null : await this.ended(accepted.run);
    await this.settled(accepted.turn);
    const { db, services } = await this.#parts();
    const said = await readMessages(db, services.tenant, { turn: accepted.turn });
    const deliveries = await readDeliveries(db, services.tenant, { turn: accepted.turn });
    const posts = said.filter((message) => message.role === "assistant");
    const answer = posts.findLast(({ delivery }) =>
      deliveries.some(({ id, kind }) => id === delivery && kind !== "say" && kind !== "send"),
    );
    return {
      ...accepted,
      state: run?.state ?? "replied",
      reason: run?.reason ?? null,
      text: answer?.text ?? "",
      posts,
    };
  }

  /** Says something as a person; resolves when it is committed. */
  async post(text: string, options: SayOptions = {}): Promise<Accepted> {
    // Made before anything is awaited, so that messages come in the order of the calls.
    const incoming = this.#incoming(text, options);
    const { inbox } = await this.#parts();
    return inbox.accept(incoming);
  }

  #incoming(text: string, options: SayOptions): IncomingMessage {
    const { conversation = "chat", thread = null, sender = "tester", agent, leftOut, regenerate } = options;
    const address =
      options.address === undefined
        ? { channel: "web", account: webAccount, conversation, thread }
        : parseAddress(options.address);
    const room = formatAddress(parentOf(address));
    const kind = options.kind ?? this.#kinds.get(room) ?? "dm";
    this.#kinds.set(room, kind);
    this.#messages += 1;
    return {
      place: placeOf(address, kind),
      id: options.id ?? `message-${this.#messages}`,
      sender: typeof sender === "string" ? { id: sender, name: null } : sender,
      principal: null,
      text,
      parts: options.parts ?? [{ type: "text", text }],
      ...(agent === undefined ? {} : { agent }),
      ...(leftOut === undefined ? {} : { leftOut }),
      ...(regenerate === undefined ? {} : { regenerate }),
    };
  }

  /** What was posted to people, in order: agents' messages whose delivery has its receipt. */
  async posts(address?: string): Promise<TestMessage[]> {
    const delivered = new Set(
      (await this.deliveries({ address })).filter(({ state }) => state === "delivered").map(({ id }) => id),
    );
    const all = await this.messages(address);
    return all.filter(({ delivery }) => delivery !== null && delivered.has(delivery));
  }

  /** What was said, by people and agents; in one place or in all. */
  async messages(address?: string): Promise<TestMessage[]> {
    const { db, services } = await this.#parts();
    return readMessages(db, services.tenant, { address });
  }

  /** Where something was said: conversations and threads, each with its kind, the latest spoken in first. */
  async conversations(): Promise<ConversationRecord[]> {
    const { db, services } = await this.#parts();
    return listConversations(db, services.tenant, { limit: 1_000 });
  }

  /** The ledger's facts about a place, live runs first, and the sentence that people get. */
  async status(address = this.address()): Promise<{ address: string; runs: RunRecord[]; text: string }> {
    const { db, services } = await this.#parts();
    const runs = await readPlaceRuns(db, services.tenant, address, 20);
    return { address, runs, text: sayStatus(runs, services.clock.now(), services.locale) };
  }

  /** Runs, the oldest first. */
  async runs(filter: Partial<RunFilter> = {}): Promise<RunRecord[]> {
    const { db, services } = await this.#parts();
    return (await listRuns(db, services.tenant, { limit: 1_000, ...filter })).toReversed();
  }

  /** @throws WaybillError `unknown_run` */
  async run(id: string): Promise<RunRecord> {
    const { db, services } = await this.#parts();
    const run = await readRun(db, services.tenant, id);
    if (!run) throw new WaybillError("unknown_run", `There is no run ${id}.`, { run: id });
    return run;
  }

  async events(run: string): Promise<TestRunEvent[]> {
    const { db, services } = await this.#parts();
    return readEvents(db, services.tenant, run);
  }

  async deliveries(
    filter: { id?: string; run?: string; turn?: string; address?: string } = {},
  ): Promise<TestDelivery[]> {
    const { db, services } = await this.#parts();
    return readDeliveries(db, services.tenant, filter);
  }

  /** The story of any id or link to a post: who asked, what ran, where it was posted and why. @throws `not_found` */
  async why(id: string): Promise<WireStory> {
    const { token } = this.#options;
    const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
    const answer = await this.fetch(`/v1/why/${encodeURIComponent(id)}`, { headers });
    if (answer.ok) return (await answer.json()) as WireStory;
    const problem = (await answer.json()) as { code: ErrorCode; detail: string };
    throw new WaybillError(problem.code, problem.detail);
  }

  /** Resolves when the run has ended. @throws WaybillError `unknown_run` */
  ended(run: string): Promise<RunRecord> {
    return this.reached(run, isTerminal);
  }

  /** Resolves when the run is in a state that you wait for. */
  reached(run: string, wanted: (state: RunState) => boolean): Promise<RunRecord> {
    return this.#hints.until(`the run ${run}`, async () => {
      const found = await this.run(run);
      return wanted(found.state) ? found : null;
    });
  }

  /** Resolves when a look at the gateway finds what you wait for; it looks again after each change. */
  until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
    return this.#hints.until(what, async () => (await look()) || null);
  }

  /** Resolves when nothing runs and no delivery is on its way: of one turn, or at all. */
  async settled(turn?: string): Promise<void> {
    await this.#hints.until(turn ?? "everything", async () => {
      const { db, services } = await this.#parts();
      return (await countOpen(db, services.tenant, turn)) === 0 ? true : null;
    });
  }

  /** Reads the stream of a run, as a browser does; `after` is an offset to resume after. */
  async stream(run: string, after = 0): Promise<CapturedStream> {
    const parts = await this.#parts();
    const { stream } = await this.run(run);
    const source = await openSource(httpPorts(parts), stream, parts.services.locale);
    return captureStream(source, after);
  }

  /** Asks a run to end. @throws WaybillError `unknown_run`, `run_finished` */
  async cancel(run: string): Promise<void> {
    const { control } = await this.#parts();
    await control.cancelRun(run, "cancel");
  }

  /** Asks again what a run was asked that did not complete. @throws WaybillError `unknown_run`, `run_not_retryable` */
  async retry(run: string): Promise<Accepted> {
    const { control } = await this.#parts();
    return control.retryRun(run);
  }

  /** Sends again what was given up. @throws WaybillError `unknown_delivery`, `delivery_not_retryable` */
  async redeliver(delivery: string): Promise<TestDelivery> {
    const { control } = await this.#parts();
    await control.retryDelivery(delivery);
    return this.#hints.until(`the delivery ${delivery}`, async () => {
      const [found] = await this.deliveries({ id: delivery });
      return found && found.state !== "pending" && found.state !== "sending" ? found : null;
    });
  }

  /** Sends as the operator, or in the name of a run, under the rules of addresses. */
  async send(to: string, text: string, options: { run?: string; id?: string } = {}) {
    const { control } = await this.#parts();
    return control.send({ to, text, ...options });
  }

  /** The address of a place on the web channel. */
  address(conversation = "chat", thread: string | null = null): string {
    return formatAddress({ channel: "web", account: webAccount, conversation, thread });
  }

  /** Stops the gateway and starts it again on the same store. Runs have `graceMs` to end by themselves. Default 0. */
  async restart(options: { graceMs?: number } = {}): Promise<void> {
    const before = await this.#running;
    this.#running = this.#end(before, options.graceMs ?? 0).then(() => this.#start());
    await this.#running;
  }

  /** Stops the gateway and removes its folder. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#hints.stop();
    try {
      await this.#end(await this.#running, 0);
    } finally {
      await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** With time that stands still, what waits for a moment to pass would never end. */
  async #end(gateway: RunningGateway, graceMs: number): Promise<void> {
    let isDone = false;
    const done = gateway.stop(graceMs).finally(() => {
      isDone = true;
    });
    while (this.clock && !isDone) {
      this.clock.advance(100);
      await nextTurnOfTheLoop();
    }
    await done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/**
 * Starts a gateway for a test: a SQLite store in a temporary folder that goes away at the end.
 *
 *   const t = await testGateway({ agents: { echo: agent.fn(async (ctx) => `You said: ${ctx.text}`) } });
 *   const { text } = await t.say("hi"); // "You said: hi"
 *   await t.posts(); // what people read
 *   await t.stop(); // or: await using t = await testGateway(...)
 *
 * @throws WaybillError as `gateway.start` does
 */
export async function testGateway(
  config: WaybillConfig,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), "waybill-test-"));
  try {
    return await new TestGateway(config, options, folder).ready();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
