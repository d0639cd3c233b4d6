/** The command line tool as a process, in a folder of its own. Tests wait for what it prints or for its end. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";

const launcher = path.resolve(import.meta.dirname, "../../bin/waybill.js");

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

/** What a test may set beside the arguments. */
export interface RunOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Given to standard input, which then ends. Left out: it ends at once. */
  input?: string;
  /** Standard input stays open. */
  open?: boolean;
}

const running = new Set<Cli>();
const folders: string[] = [];

afterEach(async () => {
  for (const cli of running) cli.signal("SIGKILL");
  await Promise.all([...running].map((cli) => cli.ended));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** An empty folder, gone after the test; with these files if they are given. */
export function folder(files: Record<string, string> = {}): string {
  const made = mkdtempSync(path.join(tmpdir(), "waybill-cli-"));
  folders.push(made);
  write(made, files);
  return made;
}

export function write(where: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(where, name)), { recursive: true });
    writeFileSync(path.join(where, name), text);
  }
}

/** The environment without what would change the tool. */
function cleanEnv(more: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WAYBILL_|NO_COLOR|FORCE_COLOR|COLUMNS|NODE_OPTIONS|VITEST|[A-Z]+_API_KEY)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...more };
}

export class Cli {
  out = "";
  err = "";
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #heard = Promise.withResolvers<void>();

  constructor(args: readonly string[], options: RunOptions) {
    this.#child = spawn(process.execPath, [launcher, ...args], {
      cwd: options.cwd,
      env: cleanEnv(options.env ?? {}),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#hear("out", text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#hear("err", text));
    // A tool that ended before it read its input closes the pipe.
    this.#child.stdin?.on("error", () => {});
    if (options.input !== undefined) this.#child.stdin?.write(options.input);
    if (options.open !== true) this.#child.stdin?.end();
    running.add(this);
    this.ended = once(this.#child, "close").then(([code, signal]) => {
      running.delete(this);
      this.#heard.resolve();
      return { code, signal, out: this.out, err: this.err } as Ended;
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  #hear(stream: "out" | "err", text: string): void {
    this[stream] += text;
    this.#heard.resolve();
    this.#heard = Promise.withResolvers<void>();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Types into standard input. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Resolves with the match when the text of a stream matches, from `from` on. Fails if the process ends before. */
  async says(pattern: RegExp, stream: "out" | "err" = "out", from = 0): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this[stream].slice(from));
      if (match) return match;
      if (!running.has(this)) {
        throw new Error(`It ended without saying ${pattern}.\nout: ${this.out}\nerr: ${this.err}`);
      }
      await this.#heard.promise;
    }
  }

  /** Resolves with its address when it serves. */
  async ready(from = 0): Promise<string> {
    return (await this.says(/^Waybill is ready: (http:\S+)\n/m, "out", from))[1] ?? "";
  }
}

/** Starts the tool. */
export function start(args: readonly string[], options: RunOptions): Cli {
  return new Cli(args, options);
}

/** Runs the tool to its end. */
export function run(args: readonly string[], options: RunOptions): Promise<Ended> {
  return new Cli(args, options).ended;
}

/** Starts a gateway on any free port and waits until it serves. */
export async function serve(
  cwd: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<{ cli: Cli; url: string }> {
  const cli = start(["start", "--port", "0", "--log", "warn", ...args], { cwd, env });
  return { cli, url: await cli.ready() };
}

/** The error that `--json` printed on standard error. */
export function problem(ended: Ended): { code: string; message: string; details: Record<string, unknown> } {
  const line = ended.err.trim().split("\n").at(-1) ?? "";
  return JSON.parse(line) as ReturnType<typeof problem>;
}

export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

/** Says something over HTTP and resolves with its ids when it is committed. */
export async function say(
  url: string,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ run: string; stream: string; address: string; turn: string; message: string }> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Awaited<ReturnType<typeof say>>;
}

/** Resolves when a stream has ended, which is after its run's end was committed. */
export async function streamEnded(url: string, stream: string): Promise<string> {
  const response = await fetch(`${url}/v1/stream/${stream}?live=sse&offset=-1`);
  return response.text();
}

/** Resolves when a stream has said this; the run that says it is going on. */
export async function streamSays(url: string, stream: string, text: string): Promise<void> {
  const leave = new AbortController();
  const { body } = await fetch(`${url}/v1/stream/${stream}?live=sse&offset=-1`, { signal: leave.signal });
  let said = "";
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
    said += piece;
    if (said.includes(text)) return leave.abort();
  }
  throw new Error(`The stream ended without saying ${text}: ${said}`);
}
