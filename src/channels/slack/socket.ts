import { sha256 } from "../../kernel/digest.ts";
import { asWaybillError, WaybillError } from "../../kernel/errors.ts";
import { redact } from "../../kernel/redact.ts";
import type { Hold } from "../channel.ts";
import { dispatch } from "./dispatch.ts";
import { pause } from "../../kernel/pause.ts";
import { readEnvelope } from "./read-event.ts";
import { interact, teamOf } from "./shortcut.ts";
import { clientOptions, failureOf, quiet } from "./slack-api.ts";
import type { Workspace } from "./workspace.ts";

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** A connection that lasted so long was a good one: Slack renews each now and then, and then no pause is needed. */
const goodMs = 10_000;
/** How long the end of a connection waits for Slack to agree. */
const farewellMs = 1_000;

type Held = Extract<Hold, { held: true }>;
type Client = InstanceType<Awaited<typeof import("@slack/socket-mode")>["SocketModeClient"]>;

/** What the client hands on of one envelope. */
interface Incoming {
  ack: (answer?: Record<string, unknown>) => Promise<void>;
  type: string;
  body: unknown;
  retry_num?: number;
}

/**
 * Socket Mode. Every envelope goes the way of an event over HTTP and is acknowledged after the commit; what is not
 * acknowledged Slack sends again. Of all processes one has the connection of a token.
 */
export class SlackSocket {
  readonly #workspace: Workspace;
  readonly #token: string;
  readonly #stop = new AbortController();
  readonly #open = new Set<Promise<void>>();
  #life: Promise<void> = Promise.resolve();

  constructor(workspace: Workspace, token: string) {
    this.#workspace = workspace;
    this.#token = token;
  }

  /**
   * Resolves when it is connected, or when another process has the connection.
   * @throws WaybillError `config_invalid` for a token that Slack refuses, or without the package
   */
  async start(): Promise<void> {
    const { ports, settings } = this.#workspace;
    const hold = await ports.hold(`slack:${sha256(`${this.#token} ${settings.apiUrl}`)}`);
    if (!hold.held) {
      ports.report({ kind: "standing-by", reason: `${hold.by} has the connection of slack.appToken` });
      void hold.freed.then(() => this.#again());
      return;
    }
    let begun = (): void => {};
    const connected = new Promise<void>((resolve) => (begun = resolve));
    const over = AbortSignal.any([this.#stop.signal, hold.lost]);
    const life = this.#keep(hold, over, begun);
    this.#life = life.catch(() => {});
    await Promise.race([connected, life]);
  }

  /** Closes the connection, after what has come in is settled, and gives the token free. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#life;
  }

  async #again(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    try {
      await this.start();
    } catch (thrown) {
      this.#workspace.ports.report({ kind: "off", reason: asWaybillError(thrown).message });
    }
  }

  /** One connection after the other, until it is over or the token is refused. */
  async #keep(hold: Held, over: AbortSignal, begun: () => void): Promise<void> {
    const { ports } = this.#workspace;
    let refused: WaybillError | null = null;
    let pauseMs = firstPauseMs;
    while (!over.aborted && refused === null) {
      const at = ports.clock.now();
      try {
        await this.#connection(over, begun);
        if (over.aborted) break;
        ports.report({ kind: "connecting", reason: "Slack closed the connection" });
        ports.log.info(
          { account: this.#workspace.settings.account },
          "Slack closed the connection; once more",
        );
      } catch (thrown) {
        if (thrown instanceof WaybillError) refused = thrown;
        else ports.report({ kind: "connecting", reason: failureOf(thrown).reason });
      }
      if (ports.clock.now() - at >= goodMs) pauseMs = firstPauseMs;
      else if (refused === null) {
        await pause(ports.clock, pauseMs, over);
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      }
    }
    await Promise.allSettled(this.#open);
    await hold.release();
    if (refused !== null) {
      ports.report({ kind: "off", reason: refused.message });
      throw refused;
    }
    if (!this.#stop.signal.aborted) void this.#again();
  }

  /** Resolves when a connection that stood has ended. */
  async #connection(over: AbortSignal, begun: () => void): Promise<void> {
    const { ports, settings } = this.#workspace;
    const client = await this.#client();
    this.#listen(client, over);
    const ended = new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    const leave = (): void => void this.#leave(client);
    // Without a greeting the connection is none.
    const cancel = ports.clock.after(settings.timeoutMs, leave);
    over.addEventListener("abort", leave, { once: true });
    try {
      await client.start().catch((thrown: unknown) => {
        if (!over.aborted) throw asRefusal(thrown);
      });
      cancel();
      if (over.aborted) return await this.#leave(client);
      ports.report({ kind: "on" });
      begun();
      await ended;
    } finally {
      cancel();
      over.removeEventListener("abort", leave);
    }
  }

  async #leave(client: Client): Promise<void> {
    await Promise.allSettled(this.#open);
    const cancel = this.#workspace.ports.clock.after(farewellMs, () => void client.disconnect());
    await client.disconnect();
    cancel();
  }

  async #client(): Promise<Client> {
    const { settings, ports } = this.#workspace;
    const { SocketModeClient } = await load();
    const client = new SocketModeClient({
      appToken: this.#token,
      // We say how it stands, and wait by our own clock.
      autoReconnectEnabled: false,
      logger: quiet,
      clientOptions: clientOptions(settings, ports.clock),
    });
    // It reads fields of what it hands on; an envelope without them would be an error that nobody catches.
    const [own] = client.listeners("ws_message");
    client.off("ws_message");
    client.on("ws_message", (data: unknown, isBinary: boolean) => {
      const why = whyUnusable(data, isBinary);
      if (why === null) own?.(data, isBinary);
      else ports.log.warn({ why }, "an envelope of Slack was not understood");
      const others = why === null ? connectionsIn(String(data)) - 1 : 0;
      if (others > 0) {
        ports.log.warn(
          { others },
          "slack.appToken has other connections than this one, and Slack gives each a part of the events; stop the other programs or give each an app of its own",
        );
      }
    });
    return client;
  }

  #listen(client: Client, over: AbortSignal): void {
    client.on("slack_event", (incoming: Incoming) => {
      if (over.aborted) return;
      const work = this.#take(incoming).catch((thrown: unknown) => {
        this.#workspace.ports.log.warn(
          { code: asWaybillError(thrown).code },
          `an event of Slack was not acknowledged: ${redact(asWaybillError(thrown).message, 500)}`,
        );
      });
      this.#open.add(work);
      void work.then(() => this.#open.delete(work));
    });
  }

  async #take({ ack, type, body, retry_num: retry = 0 }: Incoming): Promise<void> {
    const { ports, settings } = this.#workspace;
    if (type === "interactive") {
      if (teamOf(body) === settings.account) interact(this.#workspace, body);
      return ack();
    }
    const envelope = type === "events_api" ? readEnvelope(body) : null;
    if (envelope === null) {
      ports.log.warn({ type: type.slice(0, 80) }, "an envelope of Slack is of no use here");
    } else if (!envelope.teams.includes(settings.account)) {
      ports.log.warn(
        { teams: envelope.teams },
        `an event of another workspace than ${settings.account} came over its connection; give that workspace an app of its own`,
      );
    } else await dispatch(this.#workspace, envelope, retry > 0);
    await ack();
  }
}

async function load(): Promise<typeof import("@slack/socket-mode")> {
  try {
    return await import("@slack/socket-mode");
  } catch {
    throw new WaybillError(
      "config_invalid",
      "slack.appToken needs the package @slack/socket-mode, which is not installed: npm i @slack/socket-mode",
      { field: "slack.appToken" },
    );
  }
}

function asRefusal(thrown: unknown): unknown {
  // The client rejects with nothing where the connection ended before its greeting.
  if (thrown === undefined) return new Error("the connection ended before Slack's greeting");
  const failure = failureOf(thrown);
  if (failure.kind !== "refusal") return thrown;
  return new WaybillError(
    "config_invalid",
    `slack.appToken is of no use: Slack answered ${failure.error}. Make an app-level token with the scope connections:write on the app's page "Basic Information", and switch Socket Mode on.`,
    { field: "slack.appToken" },
  );
}

function whyUnusable(data: unknown, isBinary: boolean): string | null {
  if (isBinary || typeof data !== "string") return "it is not text";
  const envelope = asObject(parsed(data));
  if (envelope === null) return "it is not JSON";
  if (typeof envelope["type"] !== "string") return "it has no type";
  if (envelope["type"] === "hello" || envelope["type"] === "disconnect") return null;
  if (typeof envelope["envelope_id"] !== "string") return "it has no envelope_id";
  if (envelope["type"] !== "events_api") return null;
  const event = asObject(asObject(envelope["payload"])?.["event"]);
  return typeof event?.["type"] === "string" ? null : "it has no event";
}

function connectionsIn(data: string): number {
  const hello = asObject(parsed(data));
  const count = hello?.["type"] === "hello" ? hello["num_connections"] : 1;
  return typeof count === "number" ? count : 1;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}
