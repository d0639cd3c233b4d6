/** What becomes of an agent's processes when their gateway ends without having stopped them. */
import { fork, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "vitest";
import { makePuppets, type HeldTurn, type Puppets } from "../support/process-agents/puppets.ts";

let puppets: Puppets;
let folder: string;
let gateway: ChildProcess;
beforeEach(async () => {
  puppets = await makePuppets();
  folder = await mkdtemp(path.join(tmpdir(), "waybill-puppets-"));
});
afterEach(async () => {
  gateway.kill("SIGKILL");
  await puppets[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A gateway whose agent's process has a turn in hand. */
async function working(): Promise<HeldTurn> {
  const script = path.resolve(import.meta.dirname, "../support/process-agents/puppet-gateway.ts");
  const port = puppets.options().args?.at(-1) ?? "";
  gateway = fork(script, [port, folder], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  return puppets.turn("hello");
}

test("a gateway killed with SIGKILL: the end of its input ends a process that heeds it", async () => {
  const { puppet } = await working();
  gateway.kill("SIGKILL");
  await puppet.ended();
});

test("a gateway that exits without a stop takes its processes along, however stubborn", async () => {
  const { puppet } = await working();
  puppet.order({ kind: "stubborn" });
  await puppet.event("written");
  const grandchild = await puppets.grandchild(puppet);
  gateway.send("exit");
  await puppet.ended();
  await puppets.until("the end of what the process started", () => !grandchild.lives || undefined);
});
