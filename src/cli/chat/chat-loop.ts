import { createInterface } from "node:readline";
import { WaybillError } from "../../kernel/errors.ts";
import { systemClock } from "../../kernel/clock.ts";
import { errorText } from "../output.ts";
import { chatHelp, isStop, readLine, type ChatLine } from "./chat-input.ts";
import { ChatSession, type ChatOptions, type ChatPlace } from "./chat-session.ts";
import { jsonScreen, plainScreen, TerminalScreen, type Screen } from "./screen.ts";
import type { Client } from "../client.ts";

export interface LoopOptions extends ChatOptions {
  place: ChatPlace;
  json: boolean;
}

/**
 * Reads lines and says them, until the input ends or the person leaves. From a pipe each line waits for the answer to
 * the one before, and the end of the input for everything that still runs here.
 */
export async function chatLoop(client: Client, options: LoopOptions): Promise<void> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !options.json;
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal ? { output: process.stdout } : {}),
    terminal: isTerminal,
  });
  let session: ChatSession | null = null;
  const where = (): string => {
    const { conversation, thread } = session?.place ?? options.place;
    return thread === null ? conversation : `${conversation}/${thread}`;
  };
  const terminal = isTerminal ? new TerminalScreen(lines, where) : null;
  const screen = terminal ?? (options.json ? jsonScreen() : plainScreen());
  session = new ChatSession(client, screen, options);
  // Lines that come while the place is being opened are kept by the interface only if somebody listens.
  const loop = new ChatLoop(session, screen, terminal, () => lines.close());
  lines.on("line", (line) => loop.hear(line));
  const ended = new Promise<void>((resolve) => lines.on("close", resolve));
  const onInterrupt = (): void => loop.interrupt();
  lines.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", () => loop.leave());
  try {
    await loop.open(options.place);
    terminal?.prompt();
    await ended;
    if (!loop.left) await loop.finish();
  } finally {
    session.leave();
    lines.close();
  }
}

class ChatLoop {
  readonly #session: ChatSession;
  readonly #screen: Screen;
  readonly #terminal: TerminalScreen | null;
  readonly #close: () => void;
  readonly #lines: string[] = [];
  #busy: Promise<void> | null = null;
  #isOpen = false;
  /** All that was said is answered. */
  #answered: Promise<unknown> = Promise.resolve();
  #interrupts = 0;
  left = false;

  constructor(session: ChatSession, screen: Screen, terminal: TerminalScreen | null, close: () => void) {
    this.#session = session;
    this.#screen = screen;
    this.#terminal = terminal;
    this.#close = close;
  }

  async open(place: ChatPlace): Promise<void> {
    await this.#session.open(place);
    this.#isOpen = true;
    this.#go();
  }

  hear(line: string): void {
    this.#interrupts = 0;
    this.#terminal?.sent();
    this.#lines.push(line);
    this.#go();
  }

  #go(): void {
    if (!this.#isOpen || this.#busy) return;
    this.#busy = this.#drain().finally(() => {
      this.#busy = null;
    });
  }

  async #drain(): Promise<void> {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const read = readLine(line, this.#session.place);
      // A person at a terminal sees what is said meanwhile; a script means one thing after the other, but for a stop.
      const waits = !this.#terminal && !(read.kind === "say" && isStop(read.text));
      if (waits) await this.#answered;
      if (this.left) return;
      try {
        await this.#act(read);
      } catch (thrown) {
        this.#complain(thrown);
      }
    }
  }

  async #act(read: ChatLine): Promise<void> {
    switch (read.kind) {
      case "nothing":
        break;
      case "say": {
        const { answered } = await this.#session.say(read.text);
        this.#answered = Promise.all([
          this.#answered,
          answered.catch((thrown: unknown) => this.#complain(thrown)),
        ]);
        return;
      }
      case "open":
        await this.#session.open(read.place);
        break;
      case "help":
        this.#screen.note(chatHelp);
        break;
      case "wrong":
        this.#screen.note(read.text);
        break;
      case "leave":
        return this.leave();
    }
    this.#terminal?.prompt();
  }

  /** What goes wrong is shown, and the chat goes on. */
  #complain(thrown: unknown): void {
    if (!(thrown instanceof WaybillError)) throw thrown;
    this.#screen.note(errorText(thrown, false).trimEnd());
    this.#screen.event("error", { code: thrown.code, message: thrown.message, details: thrown.details });
  }

  /** Ctrl-C: once, what runs is stopped; twice, the chat is left. */
  interrupt(): void {
    this.#interrupts += 1;
    const { live } = this.#session;
    if (this.#interrupts > 1) return this.leave();
    if (live.length === 0) this.#screen.note("Ctrl-C once more leaves.");
    else {
      this.#screen.note("Stopping; Ctrl-C once more leaves.");
      void this.#session.stop();
    }
    // Pressed again much later it is a first time.
    systemClock.after(5_000, () => {
      this.#interrupts = 0;
    });
  }

  leave(): void {
    this.left = true;
    this.#session.leave();
    this.#close();
  }

  /** The input has ended: waits until all is answered. */
  async finish(): Promise<void> {
    while (this.#busy) await this.#busy;
    await this.#answered;
    if (!this.left) await this.#session.settled();
  }
}
