/** One process with a gateway whose agents do what they are told; killed and started again by the history. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import type { FromServer, ServerSettings, ToServer } from "./wire.ts";

export type Acted = Extract<FromServer, { kind: "acted" }>;

export class GatewayProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  url = "";
  readonly #acted = new Map<string, Acted>();
  readonly #ended = new Map<string, string>();
  #waiting: (() => void)[] = [];

  private constructor(settings: ServerSettings) {
    const env = { ...process.env, NODE_COMPILE_CACHE: path.join(tmpdir(), "waybill-compile-cache") };
    const stdio: ("ignore" | "inherit" | "ipc")[] = ["ignore", "ignore", "inherit", "ipc"];
    this.#child = fork(new URL("./server.ts", import.meta.url), [JSON.stringify(settings)], {
      env,
      execArgv: [],
      stdio,
    });
    this.#exited = once(this.#child, "exit").then(() => this.#wake());
    this.#child.on("message", (message: FromServer) => {
      if (message.kind === "ready") this.url = message.url;
      if (message.kind === "acted") this.#acted.set(message.nonce, message);
      if (message.kind === "ended") this.#ended.set(message.run, message.state);
      this.#wake();
    });
  }

  static async start(settings: ServerSettings): Promise<GatewayProcess> {
    const gateway = new GatewayProcess(settings);
    await gateway.#until(() => gateway.url !== "", "it serves");
    return gateway;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #until(holds: () => boolean, what: string): Promise<void> {
    while (!holds()) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`The gateway ended before ${what}.`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves when the run that a message asked for has done its acts. */
  async acted(nonce: string): Promise<Acted> {
    await this.#until(() => this.#acted.has(nonce), `the run of ${nonce} acted`);
    return this.#acted.get(nonce)!;
  }

  /** Resolves when a run has ended; a run that ended before this process listened is looked up. */
  async ended(run: string): Promise<string> {
    if (!this.#ended.has(run)) {
      const found = (await (await fetch(`${this.url}/v1/runs/${run}`)).json()) as { state: string };
      if (["completed", "failed", "cancelled", "interrupted"].includes(found.state)) return found.state;
    }
    await this.#until(() => this.#ended.has(run), `${run} ended`);
    return this.#ended.get(run)!;
  }

  open(nonce: string): void {
    this.#child.send({ open: nonce } satisfies ToServer);
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    this.#child.kill(signal);
    await this.#exited;
  }
}
