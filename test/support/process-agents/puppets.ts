/**
 * The test's side of puppet.ts: each process that a gateway starts appears here, with what it was given, and does what
 * it is told. So a test decides in which order things happen, and waits for events only.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { ProcessAgentOptions } from "../../../src/agents/process/process-options.ts";

export type FromPuppet =
  | { kind: "hello"; pid: number; env: Record<string, string> }
  | { kind: "line"; line: Record<string, unknown> }
  | { kind: "written" }
  | { kind: "signal"; signal: string }
  | { kind: "grandchild" };

export type ToPuppet =
  | { kind: "write"; text: string }
  | { kind: "log"; text: string }
  | { kind: "exit"; code: number }
  | { kind: "kill"; signal: NodeJS.Signals }
  | { kind: "stubborn" | "deaf" }
  | { kind: "grandchild" };

/** A turn in the hands of a puppet. */
export interface HeldTurn {
  id: string;
  text: string;
  line: Record<string, unknown>;
  puppet: Puppet;
  /** A line about this turn. */
  say(line: Record<string, unknown>): void;
  /** Text and the end. */
  answer(text: string): void;
}

const waitMs = 15_000;

/** One process. */
export class Puppet {
  readonly pid: number;
  readonly env: Record<string, string>;
  /** All that the gateway wrote to it. */
  readonly lines: Record<string, unknown>[] = [];
  readonly events: FromPuppet[] = [];
  gone = false;
  readonly #socket: Socket;
  readonly #changed: () => void;
  readonly #until: Puppets["until"];

  constructor(hello: Extract<FromPuppet, { kind: "hello" }>, socket: Socket, puppets: Puppets) {
    this.pid = hello.pid;
    this.env = hello.env;
    this.#socket = socket;
    this.#changed = () => puppets.changed();
    this.#until = (what, look) => puppets.until(what, look);
  }

  hear(message: FromPuppet): void {
    if (message.kind === "line") this.lines.push(message.line);
    else this.events.push(message);
    this.#changed();
  }

  order(order: ToPuppet): void {
    this.#socket.write(`${JSON.stringify(order)}\n`);
  }

  say(line: Record<string, unknown>): void {
    this.write(`${JSON.stringify(line)}\n`);
  }

  write(text: string): void {
    this.order({ kind: "write", text });
  }

  ready(): void {
    this.say({ v: 1, type: "ready" });
  }

  /** A line that the gateway writes to it, now or later. */
  line(type: string, match: (line: Record<string, unknown>) => boolean = () => true) {
    return this.#until(`a line "${type}" for ${this.pid}`, () =>
      this.lines.find((line) => line["type"] === type && match(line)),
    );
  }

  event<K extends FromPuppet["kind"]>(kind: K): Promise<Extract<FromPuppet, { kind: K }>> {
    return this.#until(`"${kind}" of ${this.pid}`, () =>
      this.events.find((event): event is Extract<FromPuppet, { kind: K }> => event.kind === kind),
    );
  }

  ended(): Promise<true> {
    return this.#until(`the end of ${this.pid}`, () => this.gone || undefined);
  }
}

export class Puppets implements AsyncDisposable {
  readonly all: Puppet[] = [];
  /** What puppets have started; `lives` turns false with its process. */
  readonly grandchildren: { lives: boolean }[] = [];
  /** Whether each says `ready` by itself. */
  ready = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #taken = new Set<string>();
  #watchers: (() => void)[] = [];

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#welcome(socket));
  }

  /** The options of `agent.process` with which a gateway starts these. */
  options(more: Partial<ProcessAgentOptions> = {}): ProcessAgentOptions {
    const { port } = this.#server.address() as AddressInfo;
    return { command: process.execPath, args: [`${import.meta.dirname}/puppet.ts`, String(port)], ...more };
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    let puppet: Puppet | null = null;
    let grandchild: { lives: boolean } | null = null;
    createInterface({ input: socket }).on("line", (text) => {
      const message = JSON.parse(text) as FromPuppet;
      if (message.kind === "grandchild") {
        grandchild = { lives: true };
        this.grandchildren.push(grandchild);
        return this.changed();
      }
      if (message.kind !== "hello") return puppet?.hear(message);
      puppet = new Puppet(message, socket, this);
      this.all.push(puppet);
      if (this.ready) puppet.ready();
      this.changed();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (puppet) puppet.gone = true;
      if (grandchild) grandchild.lives = false;
      this.changed();
    });
  }

  /** Has a process start another one. Resolves when that lives. */
  grandchild(of: Puppet): Promise<{ lives: boolean }> {
    const n = this.grandchildren.length;
    of.order({ kind: "grandchild" });
    return this.until("a grandchild", () => this.grandchildren[n]);
  }

  changed(): void {
    this.#watchers.slice().forEach((look) => look());
  }

  /** Resolves with what `look` finds, looking again after every change. */
  until<T>(what: string, look: () => T | undefined): Promise<T> {
    const found = look();
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        this.#watchers = this.#watchers.filter((one) => one !== watch);
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`Waited ${waitMs} ms in vain for ${what}.`));
      }, waitMs);
      const watch = (): void => {
        const value = look();
        if (value === undefined) return;
        stop();
        resolve(value);
      };
      this.#watchers.push(watch);
    });
  }

  /** The nth process that was started, from 0. */
  puppet(n: number): Promise<Puppet> {
    return this.until(`process ${n}`, () => this.all[n]);
  }

  /** Whether a process has the turn with this text now. */
  has(text: string): boolean {
    return this.#find(text) !== undefined;
  }

  /** The turn with this text, once a process has it; each turn is given once. */
  async turn(text: string): Promise<HeldTurn> {
    const turn = await this.until(`the turn "${text}"`, () => this.#find(text));
    this.#taken.add(turn.id);
    return turn;
  }

  #find(text: string): HeldTurn | undefined {
    for (const puppet of this.all) {
      for (const line of puppet.lines) {
        const id = String(line["turn"]);
        if (line["type"] !== "turn" || line["text"] !== text || this.#taken.has(id)) continue;
        const say = (more: Record<string, unknown>) => puppet.say({ turn: id, ...more });
        return { id, text, line, puppet, say, answer: (answer) => say({ type: "done", text: answer }) };
      }
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }
}

/** Processes to come; they go away with the block: `await using puppets = await makePuppets()`. */
export async function makePuppets(): Promise<Puppets> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return new Puppets(server);
}

/** Whether a process with this id lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
