import { spawn, type ChildProcess } from "node:child_process";
import { lineSplitter } from "./line-splitter.ts";
import { endWithUs, signalGroup } from "./process-group.ts";
import { LINE_BYTES_MOST } from "./wire.ts";

/** How a child is started. */
export interface ChildSetup {
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  /** The whole environment; nothing is added. */
  env: Readonly<Record<string, string>>;
}

/** How a child ended. `failure` is the system's word for a child that could not be started (`ENOENT`). */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  failure: string | null;
  /** Why we ended it, if we did. */
  ended: EndReason | null;
}

export type EndReason =
  | "stop"
  | "no_grant"
  | "idle"
  | "ignored_cancel"
  | "line_too_long"
  | "does_not_read"
  | "no_protocol"
  | "not_ready";

export interface ChildEvents {
  line(text: string): void;
  log(text: string): void;
  /** Once, after the last line. */
  exited(how: Exit): void;
}

/** What may wait for a child that does not read, before something more is written. */
const UNREAD_BYTES_MOST = 16 * 1024 * 1024;
/**
 * From the end of its input to SIGTERM, from there to SIGKILL, and from there until it is left behind (the kernel may
 * hold it in a call that never returns, and a stop must end). Real time: it is about real processes.
 */
const END_MS = { eof: 500, term: 2_000, kill: 2_000 };
/** How long the output of a child that has exited may stay open (by something that left its group). */
const DRAIN_MS = 1_000;
/** A longer line of standard error is cut into pieces by being dropped: logs are for people. */
const LOG_LINE_BYTES_MOST = 64 * 1024;

/** A command that runs as the leader of a group of its own: lines in, lines out, and a sure end. */
export class Child {
  readonly #child: ChildProcess;
  readonly #events: ChildEvents;
  readonly #forget: () => void;
  readonly #exited = Promise.withResolvers<Exit>();
  #ended: EndReason | null = null;
  #gone = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(setup: ChildSetup, events: ChildEvents) {
    this.#events = events;
    this.#child = spawn(setup.command, [...setup.args], {
      cwd: setup.cwd,
      env: { ...setup.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#forget = endWithUs(this.#child);
    this.#child.once("error", (error: NodeJS.ErrnoException) => {
      // A signal that could not be given is an `error` too, and no end.
      if (this.#child.pid === undefined)
        this.#leave({ code: null, signal: null, failure: error.code ?? "failed" });
    });
    this.#child.once("exit", (code, signal) => void this.#drain({ code, signal, failure: null }));
    // EPIPE, when it ends while we write; its exit says the rest.
    this.#child.stdin?.on("error", () => {});
    this.#read();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  #read(): void {
    const { stdout, stderr } = this.#child;
    const lines = lineSplitter(
      LINE_BYTES_MOST,
      (text) => {
        // After we have decided to end it for what it says, it is not listened to any more.
        if (!this.#gone && this.#ended !== "line_too_long" && this.#ended !== "no_protocol")
          this.#events.line(text);
      },
      () => this.kill("line_too_long"),
    );
    stdout?.on("data", (chunk: Buffer) => lines.write(chunk));
    stdout?.once("end", () => lines.end());
    const newLog = () => lineSplitter(LOG_LINE_BYTES_MOST, this.#events.log, () => (log = newLog()));
    let log = newLog();
    stderr?.on("data", (chunk: Buffer) => log.write(chunk));
    stderr?.once("end", () => log.end());
  }

  /** Writes one line. A child that does not read is ended before what waits for it fills the memory. */
  send(message: object): void {
    const { stdin } = this.#child;
    if (this.#gone || !stdin?.writable) return;
    // Counted before: one turn with its files may be as long as it is.
    if (stdin.writableLength > UNREAD_BYTES_MOST) this.kill("does_not_read");
    else stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Asks it to end (the end of its input, then SIGTERM), then ends it. Resolves when it is gone with its group. */
  end(reason: EndReason): Promise<Exit> {
    if (this.#ended === null && !this.#gone) {
      this.#ended = reason;
      this.#child.stdin?.end();
      this.#after(END_MS.eof, () => signalGroup(this.#child, "SIGTERM"));
      this.#after(END_MS.eof + END_MS.term, () => signalGroup(this.#child, "SIGKILL"));
      this.#after(END_MS.eof + END_MS.term + END_MS.kill, () =>
        this.#leave({ code: null, signal: "SIGKILL", failure: null }),
      );
    }
    return this.#exited.promise;
  }

  /** Ends it at once. */
  kill(reason: EndReason): void {
    if (this.#gone) return;
    this.#ended ??= reason;
    signalGroup(this.#child, "SIGKILL");
  }

  #after(ms: number, act: () => void): void {
    this.#timers.push(setTimeout(act, ms));
  }

  /** It has exited; the rest of its group goes too, and what it wrote before is read to the end. */
  async #drain(how: Omit<Exit, "ended">): Promise<void> {
    signalGroup(this.#child, "SIGKILL");
    const { stdout } = this.#child;
    if (stdout && !stdout.readableEnded && !stdout.destroyed) {
      await new Promise<void>((read) => {
        stdout.once("close", read);
        this.#after(DRAIN_MS, read);
      });
    }
    this.#leave(how);
  }

  #leave(how: Omit<Exit, "ended">): void {
    if (this.#gone) return;
    this.#gone = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#forget();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) pipe?.destroy();
    const exit = { ...how, ended: this.#ended };
    this.#events.exited(exit);
    this.#exited.resolve(exit);
  }
}
