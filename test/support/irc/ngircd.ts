/** A real IRC server of the test's own, and people who are on it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { variables } from "../services.ts";

export class Ngircd {
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess | null = null;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(): Promise<Ngircd> {
    const folder = await mkdtemp(path.join(tmpdir(), "waybill-ngircd-"));
    const server = new Ngircd(await sparePort(), folder);
    const lines = [
      "[Global]",
      "Name = irc.test",
      "Info = test",
      "Listen = 127.0.0.1",
      `Ports = ${server.port}`,
      "[Limits]",
      "MaxPenaltyTime = 0",
      "MaxConnectionsIP = 0",
      "[Options]",
      "DNS = no",
      "Ident = no",
      "PAM = no",
    ];
    await writeFile(path.join(folder, "ngircd.conf"), `${lines.join("\n")}\n`);
    await server.up();
    return server;
  }

  /** Starts it, at the same port as before. */
  async up(): Promise<void> {
    const args = ["-n", "-f", path.join(this.#folder, "ngircd.conf")];
    const child = spawn(process.env[variables.ngircd] ?? "ngircd", args, {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const said: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        said.push(chunk.toString());
        if (said.join("").includes("Now listening")) resolve();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.once("exit", () => reject(new Error(`ngircd ended: ${said.join("")}`)));
    });
  }

  /** As a crash would: every connection is cut. */
  async down(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }

  async stop(): Promise<void> {
    await this.down();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function sparePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Somebody on IRC, by a plain socket and not by the library under test. */
export class IrcPerson {
  readonly nick: string;
  readonly #socket: Socket;
  readonly lines: string[] = [];
  #waiting: (() => void)[] = [];

  private constructor(nick: string, socket: Socket) {
    this.nick = nick;
    this.#socket = socket;
    let rest = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      const parts = `${rest}${chunk as unknown as string}`.split("\r\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        if (line.startsWith("PING ")) this.send(line.replace("PING", "PONG"));
        this.lines.push(line);
      }
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
    socket.on("error", () => {});
  }

  static async join(server: Ngircd, nick: string, ...channels: string[]): Promise<IrcPerson> {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    const person = new IrcPerson(nick, socket);
    person.send(`NICK ${nick}`);
    person.send(`USER ${nick} 0 * :${nick}`);
    await person.until((lines) => lines.some((line) => line.includes(" 001 ")));
    for (const channel of channels) {
      person.send(`JOIN ${channel}`);
      await person.until((lines) => lines.some((line) => line.includes(` 366 ${nick} ${channel} `)));
    }
    return person;
  }

  send(line: string): void {
    this.#socket.write(`${line}\r\n`);
  }

  say(target: string, text: string): void {
    this.send(`PRIVMSG ${target} :${text}`);
  }

  /** Resolves when what was heard so far is as wished. */
  async until(holds: (lines: readonly string[]) => boolean): Promise<void> {
    while (!holds(this.lines)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** What somebody said to a target, in order. */
  heard(from: string, target: string): string[] {
    return this.lines.flatMap((line) => {
      const found = new RegExp(`^:${from}![^ ]+ PRIVMSG ${target} :(.*)$`).exec(line);
      return found ? [found[1] ?? ""] : [];
    });
  }

  /** Resolves when somebody is in a channel in which this person is. */
  async sees(nick: string, channel: string): Promise<void> {
    this.send(`NAMES ${channel}`);
    await this.until((lines) =>
      lines.some(
        (line) =>
          (line.startsWith(`:${nick}!`) && line.includes(` JOIN :${channel}`)) ||
          (line.includes(` 353 `) && line.includes(channel) && new RegExp(`[ :@]${nick}( |$)`).test(line)),
      ),
    );
  }

  /** Resolves with all that had been said before this call. */
  async synced(): Promise<void> {
    const token = `sync-${this.lines.length}-${this.nick}`;
    this.send(`PING ${token}`);
    await this.until((lines) => lines.some((line) => line.includes(" PONG ") && line.includes(token)));
  }

  leave(): void {
    this.#socket.destroy();
  }
}
