import { clearScreenDown, cursorTo, type Interface } from "node:readline";
import type { WireMessage } from "../../http/api.ts";
import { systemClock } from "../../kernel/clock.ts";
import { oneLine } from "../table.ts";
import { paint, printJson } from "../terminal.ts";

/** Where a chat shows what happens. */
export interface Screen {
  /** A piece of the answer that streams. */
  delta(run: string, text: string): void;
  /** The answer that streamed is complete. */
  answered(run: string): void;
  /** A whole message that was not streamed here. */
  message(message: WireMessage): void;
  /** What the chat itself says. */
  note(text: string): void;
  /** What runs, as one line; null: nothing. */
  status(text: string | null): void;
  /** Anything else, for programs. */
  event(event: string, data: Record<string, unknown>): void;
}

/** Escape sequences in what a model or a person wrote would drive the terminal; line feeds and tabs may stay. */
export function safeText(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

function speaker({ role, sender }: WireMessage): string {
  return role === "user" ? `${oneLine(sender?.name ?? sender?.id ?? "somebody")}: ` : "";
}

/** Plain text, where output is no terminal: answers and messages, and nothing that goes away again. */
export function plainScreen(): Screen {
  let open = false;
  const line = (text: string): void => {
    process.stdout.write(`${open ? "\n" : ""}${text}\n`);
    open = false;
  };
  return {
    delta(_run, text) {
      open = true;
      process.stdout.write(safeText(text));
    },
    answered() {
      if (open) process.stdout.write("\n");
      open = false;
    },
    message: (message) => line(speaker(message) + safeText(message.text)),
    note: (text) => void process.stderr.write(`${text}\n`),
    status() {},
    event() {},
  };
}

/** JSON lines, for programs. */
export function jsonScreen(): Screen {
  return {
    delta: (run, delta) => printJson({ event: "delta", run, delta }),
    answered: (run) => printJson({ event: "answered", run }),
    message: (message) => printJson({ event: "message", message }),
    note: (text) => printJson({ event: "note", text }),
    status: (text) => printJson({ event: "status", text }),
    event: (event, data) => printJson({ event, ...data }),
  };
}

/** A terminal: the prompt is the last line, says what runs, and makes room for whatever is written. */
export class TerminalScreen implements Screen {
  readonly #lines: Interface;
  readonly #place: () => string;
  #status: string | null = null;
  #since = 0;
  #stopTicking: () => void = () => {};
  /** The cursor is behind a piece of an answer. */
  #midLine = false;
  #prompted = false;

  constructor(lines: Interface, place: () => string) {
    this.#lines = lines;
    this.#place = place;
  }

  delta(_run: string, text: string): void {
    this.#makeRoom();
    const shown = safeText(text);
    process.stdout.write(shown);
    if (shown !== "") this.#midLine = !shown.endsWith("\n");
  }

  answered(): void {
    this.prompt();
  }

  message(message: WireMessage): void {
    const text = paint("blue", speaker(message)) + safeText(message.text);
    this.#line(message.notice === null ? text : paint("yellow", text));
  }

  note(text: string): void {
    this.#line(paint("grey", text));
  }

  status(text: string | null): void {
    if (text === this.#status) return;
    if (this.#status === null) this.#since = systemClock.now();
    this.#status = text;
    this.#tick();
  }

  /** The time since the run began is shown anew every second, unless an answer is being written. */
  #tick(): void {
    this.#stopTicking();
    if (!this.#midLine) this.prompt();
    if (this.#status !== null) this.#stopTicking = systemClock.after(1_000, () => this.#tick());
  }

  event(): void {}

  /** Shows the prompt with what is being typed. */
  prompt(): void {
    this.#endLine();
    const seconds = Math.floor((systemClock.now() - this.#since) / 1_000);
    const status = this.#status === null ? "" : paint("yellow", `[${oneLine(this.#status)} ${seconds}s] `);
    this.#lines.setPrompt(`${status}${this.#place()}> `);
    this.#lines.prompt(true);
    this.#prompted = true;
  }

  /** The person has sent a line: the cursor is on a new one. */
  sent(): void {
    this.#prompted = false;
    this.#midLine = false;
  }

  #line(text: string): void {
    this.#makeRoom();
    this.#endLine();
    process.stdout.write(`${text}\n`);
    this.prompt();
  }

  #endLine(): void {
    if (this.#midLine) process.stdout.write("\n");
    this.#midLine = false;
  }

  #makeRoom(): void {
    if (!this.#prompted) return;
    this.#prompted = false;
    cursorTo(process.stdout, 0);
    clearScreenDown(process.stdout);
  }
}
