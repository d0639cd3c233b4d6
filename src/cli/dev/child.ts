import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** This tool, as another process runs it. */
function launch(args: readonly string[]): [string, string[]] {
  return [process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args]];
}

/** The gateway as a child of `waybill dev`. */
export interface Child {
  /** The address where it serves; null if it ended before. */
  ready: Promise<string | null>;
  /** Its exit code; 1 if a signal ended it. */
  ended: Promise<number>;
  stop(): void;
  kill(): void;
}

/**
 * Starts the gateway. What it prints is passed on. It is in a process group of its own, so that Ctrl-C in a terminal
 * reaches it once, through us; and it ends when we do, whatever way, since it watches the channel between us.
 */
export function startChild(args: readonly string[]): Child {
  const child: ChildProcess = spawn(...launch(["start", ...args]), {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    detached: true,
    env: { ...process.env, WAYBILL_SUPERVISED: "1" },
  });
  const ended = once(child, "exit").then(([code]) => (typeof code === "number" ? code : 1));
  const ready = new Promise<string | null>((resolve) => {
    void ended.then(() => resolve(null));
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      process.stdout.write(`${line}\n`);
      const url = /https?:\/\/[^\s"]+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
  return { ready, ended, stop: () => void child.kill("SIGTERM"), kill: () => void child.kill("SIGKILL") };
}

/** Runs a command of this tool to its end. */
export async function runChild(args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(...launch(args), { stdio: ["ignore", "pipe", "pipe"] });
  const texts = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.err += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? 1, ...texts };
}
