import type { Mutant } from "../mutants.ts";

const file = "test/spec/threads.scenario.test.ts";

/** Answers that open a thread, and messages that are changed or taken back. */
export const threadsMutants: readonly Mutant[] = [
  {
    name: "an-opened-thread-is-forgotten",
    ids: ["LEDG-5", "LEDG-6", "ADDR-9"],
    file: "src/turns/inbox.ts",
    find: "  return answerIn ?? place;",
    replace: "  return answerIn && place;",
    scenario: { file, name: "an answer that opens a thread" },
  },
  {
    name: "anybody-changes-a-question",
    ids: ["SECU-1"],
    file: "src/turns/change-message.ts",
    find: "return accepted && message?.sender_id === input.sender ?",
    replace: "return accepted && message ?",
    scenario: { file, name: "a question that is changed" },
  },
  {
    name: "an-answer-overtakes-what-is-shown",
    ids: ["STRM-10", "CHAN-3"],
    file: "src/runs/execute-run.ts",
    find: "  await life?.end();",
    replace: "",
    scenario: { file: "test/spec/life.scenario.test.ts", name: "a call that is still on its way" },
  },
  {
    name: "nothing-is-shown-before-the-answer",
    ids: ["CHAN-3"],
    file: "src/runs/show-life.ts",
    find: "  if (sender.show && live.preview !== null) showing.start();",
    replace: "",
    scenario: { file: "test/spec/life.scenario.test.ts", name: "an answer is shown as it is written" },
  },
  {
    name: "what-was-taken-back-is-remembered",
    ids: ["LEDG-15"],
    file: "src/turns/memory.ts",
    find: "and notice_key = ${sql.lit(withdrawnKey)})`",
    replace: "and notice_key = ${sql.lit(withdrawnKey)} and 1 = 2)`",
    scenario: { file, name: "a question that is taken back" },
  },
];
