import type { Mutant } from "../mutants.ts";

const file = "test/spec/process.scenario.test.ts";

/** Pooled command line agents. */
export const processMutants: readonly Mutant[] = [
  {
    name: "line-is-meant-for-the-one-that-runs",
    ids: ["AGNT-2"],
    file: "src/agents/process/worker.ts",
    find: "const turn = this.#turns.get(line.turn);",
    replace: "const turn = this.#turns.get(line.turn) ?? [...this.#turns.values()][0];",
    scenario: { file, name: "AGNT-2 ADDR-9: one process" },
  },
  {
    name: "crash-spoils-the-neighbours",
    ids: ["AGNT-2"],
    file: "src/agents/process/process-pool.ts",
    find: "    this.#workers.delete(worker);",
    replace:
      '    this.#workers.delete(worker);\n    for (const one of this.#workers.keys()) void one.end("idle");',
    scenario: { file, name: "AGNT-2 LEDG-15" },
  },
  {
    name: "what-a-process-started-stays",
    ids: ["AGNT-2"],
    file: "src/agents/process/process-group.ts",
    find: "process.kill(-child.pid, signal);",
    replace: "process.kill(child.pid, signal);",
    scenario: { file, name: "AGNT-2 LEDG-8" },
  },
  {
    name: "prompt-of-a-process-has-no-signed-address",
    ids: ["ADDR-3"],
    file: "src/agents/process/process-turn.ts",
    find: "reply_to: ctx.echo,",
    replace: "reply_to: ctx.address,",
    scenario: { file, name: "ADDR-3 AGNT-2 ADDR-6: .*each conversation" },
  },
  {
    name: "tool-of-a-process-gets-the-first-turn",
    ids: ["ADDR-3"],
    file: "src/agents/process/worker.ts",
    find: "if (!turn.isSettled) await turn.ctx.grant(this.#setup.holder, turn.id);",
    replace: "if (!turn.isSettled && this.size === 1) await turn.ctx.grant(this.#setup.holder, turn.id);",
    scenario: { file, name: "ADDR-3 AGNT-2 ADDR-6: .*shared" },
  },
  {
    name: "last-piece-of-a-process-is-lost",
    ids: ["AGNT-1"],
    file: "src/agents/process/process-turn.ts",
    find: "if (line.text !== undefined) ctx.stream.text(line.text);",
    replace: "",
    scenario: { file, name: "AGNT-1 AGNT-2: the examples" },
  },
];
