/**
 * An agent's process that does nothing by itself: what the gateway writes to it goes to the test over a socket, and
 * what the test says is done here. Started by a gateway; the test's side is puppets.ts.
 */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { FromPuppet, ToPuppet } from "./puppets.ts";

const socket = connect(Number(process.argv[2]), "127.0.0.1");

function tell(message: FromPuppet): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

let keepAfterEof = false;
process.stdin.setEncoding("utf8");
const input = createInterface({ input: process.stdin });
input.on("line", (line) => tell({ kind: "line", line: JSON.parse(line) as Record<string, unknown> }));
input.on("close", () => {
  if (!keepAfterEof) process.exit(0);
});
// The test has ended in whatever way.
socket.on("error", () => process.exit(9));
socket.on("close", () => process.exit(9));

createInterface({ input: socket }).on("line", (line) => {
  const order = JSON.parse(line) as ToPuppet;
  switch (order.kind) {
    case "write":
      process.stdout.write(order.text, () => tell({ kind: "written" }));
      break;
    case "log":
      process.stderr.write(order.text);
      break;
    case "exit":
      process.exit(order.code);
      break;
    case "kill":
      process.kill(process.pid, order.signal);
      break;
    case "deaf":
      process.stdin.pause();
      process.stdin.removeAllListeners("data");
      tell({ kind: "written" });
      break;
    case "stubborn":
      keepAfterEof = true;
      process.on("SIGTERM", () => tell({ kind: "signal", signal: "SIGTERM" }));
      tell({ kind: "written" });
      break;
    case "grandchild":
      // It holds a connection to the test, which sees by it that it lives; our own output stays open with it.
      spawn(
        process.execPath,
        ["-e", `require("net").connect(${process.argv[2]}, "127.0.0.1").write('{"kind":"grandchild"}\\n')`],
        { stdio: ["pipe", "inherit", "inherit"] },
      );
      break;
  }
});

tell({ kind: "hello", pid: process.pid, env: process.env as Record<string, string> });
