import { type ChildProcess, spawn } from "node:child_process";

/** How a child ended: its exit code, 1 when a signal ended it. `output` is empty where it went to the terminal. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  readonly timedOut: boolean;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Show the output as it comes, or keep it. */
  readonly show: boolean;
  readonly timeoutMs?: number;
}

const children = new Set<ChildProcess>();

/** Runs a program in a process group of its own and waits for its end. After `timeoutMs` the group is killed. */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const { cwd, env = process.env, show, timeoutMs } = options;
  return new Promise((resolve) => {
    const stdio = show ? "inherit" : "pipe";
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", stdio, stdio], detached: true });
    children.add(child);
    let output = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8");
      stream?.on("data", (text: string) => (output += text));
    }
    const timer = setTimeout(
      () => {
        timedOut = true;
        killGroup(child, "SIGKILL");
      },
      timeoutMs ?? 2 ** 31 - 1,
    );
    const settle = (code: number) => {
      clearTimeout(timer);
      children.delete(child);
      resolve({ code, output, timedOut });
    };
    child.on("error", (error) => {
      output += error.message;
      settle(1);
    });
    child.on("close", (code) => settle(code ?? 1));
  });
}

/** As `run`, with the Node that runs us. */
export function runNode(args: readonly string[], options: RunOptions): Promise<Ended> {
  return run(process.execPath, args, options);
}

/** Ends every child that still runs, with all that it started. */
export function endChildren(signal: NodeJS.Signals): void {
  for (const child of children) killGroup(child, signal);
}

/** On Ctrl-C and SIGTERM: ends the children, does what is left to do, leaves. */
export function onInterrupt(cleanUp: () => Promise<void> | void): void {
  let asked = false;
  const leave = async (code: number) => {
    endChildren(asked ? "SIGKILL" : "SIGTERM");
    if (asked) return;
    asked = true;
    await cleanUp();
    endChildren("SIGKILL");
    process.exit(code);
  };
  process.on("SIGINT", () => void leave(130));
  process.on("SIGTERM", () => void leave(143));
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
