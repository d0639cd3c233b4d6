import { join, relative } from "node:path";
import type { ServerSettings } from "../../gateway/environment.ts";
import { configNames, findConfig } from "../../gateway/load-config.ts";
import { fromErrorRecord, type ErrorRecord, WaybillError } from "../../kernel/errors.ts";
import type { ConfigReport } from "../report-config.ts";
import { errorText } from "../output.ts";
import { runChild, startChild, type Child } from "./child.ts";
import { FileWatch } from "./file-watch.ts";

export interface DevOptions {
  cwd: string;
  json: boolean;
  /** Reads flags, environment and `.env` anew. @throws WaybillError */
  settings(): ServerSettings;
  /** The flags as they were given, for the child. */
  args: readonly string[];
}

/** Runs in a dev session are cut short sooner: whoever saves a file wants to see it. */
const DEV_GRACE_MS = 2_000;

/**
 * Keeps one gateway running and starts it anew when the settings file, what it imports or `.env` was saved. Settings
 * that cannot be used change nothing: what is wrong is shown, and the gateway that runs goes on.
 *
 *   starting -> running -> (saved) checking -> restarting -> running
 *                  ^                  | broken
 *                  +------------------+
 */
export class Supervisor {
  readonly #o: DevOptions;
  readonly #watch: FileWatch;
  readonly #changed = new Set<string>();
  #child: Child | null = null;
  #port: string | null = null;
  #busy = false;
  #stopping = false;
  #leave: (code: number) => void = () => {};

  constructor(options: DevOptions) {
    this.#o = options;
    this.#watch = new FileWatch((files) => this.#hear(files));
  }

  /** Runs until it is stopped. @returns the exit code */
  async run(): Promise<number> {
    const left = new Promise<number>((resolve) => {
      this.#leave = resolve;
    });
    this.#busy = true;
    if (await this.#check()) {
      const code = await this.#start();
      if (code !== 0) return code;
    }
    this.#busy = false;
    if (this.#changed.size > 0) this.#hear([]);
    return left;
  }

  /** First call: the gateway stops gracefully. Second: at once. */
  async stop(): Promise<void> {
    if (this.#stopping) this.#child?.kill();
    this.#stopping = true;
    this.#watch.close();
    this.#child?.stop();
    await this.#child?.ended;
    this.#leave(0);
  }

  #hear(files: readonly string[]): void {
    for (const file of files) this.#changed.add(file);
    if (!this.#busy && !this.#stopping) void this.#reload();
  }

  async #reload(): Promise<void> {
    this.#busy = true;
    while (this.#changed.size > 0 && !this.#stopping) {
      const files = [...this.#changed].map((file) => relative(this.#o.cwd, file));
      this.#changed.clear();
      this.#say("changed", `changed: ${files.join(", ")}`, { files });
      if (!(await this.#check())) continue;
      const old = this.#child;
      this.#child = null;
      old?.stop();
      await old?.ended;
      if (!this.#stopping) await this.#start();
    }
    this.#busy = false;
  }

  /** True if the settings can be used. Also finds out which files to watch. */
  async #check(): Promise<boolean> {
    const { cwd } = this.#o;
    const always = [join(cwd, ".env"), ...configNames.map((name) => join(cwd, name))];
    try {
      const settings = this.#o.settings();
      if (settings.configFile !== undefined) always.push(settings.configFile);
      const file = findConfig(settings.configFile, cwd);
      if (file === null) {
        this.#watch.set(always);
        return true;
      }
      this.#watch.set([...always, file]);
      const { code, out, err } = await runChild(["config", "check", "--json", "--config", file]);
      if (code !== 0) throw errorOf(err);
      this.#watch.set([...always, ...(JSON.parse(out) as ConfigReport).files]);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof WaybillError)) throw thrown;
      const { file } = thrown.details;
      this.#watch.set([...always, ...(typeof file === "string" ? [file] : [])]);
      process.stderr.write(errorText(thrown, this.#o.json));
      this.#say(
        "broken",
        this.#child ? "the gateway goes on with the settings before" : "waiting for a change",
        {},
      );
      return false;
    }
  }

  /** @returns 0 when it serves, else the child's exit code */
  async #start(): Promise<number> {
    const { args, settings } = this.#o;
    const grace = settings().graceMs === undefined ? ["--grace", String(DEV_GRACE_MS)] : [];
    const port = this.#port === null ? [] : ["--port", this.#port];
    const child = startChild([...args, ...grace, ...port]);
    this.#child = child;
    void child.ended.then((code) => this.#ended(child, code));
    const url = await child.ready;
    if (url === null) return (await child.ended) || 1;
    this.#port = new URL(url).port || "80";
    return 0;
  }

  #ended(child: Child, code: number): void {
    if (this.#child !== child || this.#stopping) return;
    this.#child = null;
    this.#say("ended", `the gateway ended with code ${code}; it starts again with the next change`, { code });
  }

  #say(event: string, text: string, details: Record<string, unknown>): void {
    const line = this.#o.json ? JSON.stringify({ event, ...details }) : `waybill dev: ${text}`;
    process.stderr.write(`${line}\n`);
  }
}

function errorOf(err: string): WaybillError {
  const line = err
    .trim()
    .split("\n")
    .findLast((one) => one.startsWith("{"));
  if (line !== undefined) return fromErrorRecord(JSON.parse(line) as ErrorRecord);
  return new WaybillError("internal", `The settings could not be checked: ${err.trim().slice(0, 1_000)}`);
}
