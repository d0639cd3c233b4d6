import type { Mutant } from "../mutants.ts";

/** Other ways to break what the first ones break. */
export const furtherMutants: readonly Mutant[] = [
  {
    name: "turn-reaches-the-slots",
    ids: ["ADDR-1"],
    file: "src/runs/choose-target.ts",
    find: "{ explicit, turn: turn.address },",
    replace: '{ explicit: explicit ?? "web:main/general", turn: turn.address },',
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "a send without a target reaches the DM that asked",
    },
  },
  {
    name: "one-named-end-is-enough",
    ids: ["ADDR-7"],
    file: "src/deliveries/choose-destination.ts",
    find: "(!strict || (namesOneConversation(source) && namesOneConversation(target)))",
    replace: "(!strict || namesOneConversation(target))",
    scenario: {
      file: "test/spec/cross-post.scenario.test.ts",
      name: "content reaches a wider audience only by a rule that names both ends",
    },
  },
  {
    name: "cross-post-needs-no-rule",
    ids: ["ADDR-7"],
    file: "src/deliveries/choose-destination.ts",
    find: "  if (sameConversation(from, to)) return;\n  const fromKind",
    replace: "  if (from) return;\n  const fromKind",
    scenario: {
      file: "test/spec/cross-post.scenario.test.ts",
      name: "content reaches a wider audience only by a rule that names both ends",
    },
  },
  {
    name: "answers-go-to-the-root",
    ids: ["ADDR-9", "CHAN-1"],
    file: "src/runs/live-run.ts",
    find: "    this.place = placeOf(parseAddress(run.replyTo), run.input.kind as ConversationKind);",
    replace:
      "    this.place = placeOf({ ...parseAddress(run.replyTo), thread: null }, run.input.kind as ConversationKind);",
    scenario: {
      file: "test/spec/channels.scenario.test.ts",
      name: "on every channel an answer lands at the root or in the thread where it was asked",
    },
  },
  {
    name: "a-place-that-is-gone-is-a-dead-letter",
    ids: ["ADDR-9"],
    file: "src/deliveries/attempt-op.ts",
    find: 'case "blocked":\n      return { kind: "blocked", reason: outcome.reason };',
    replace: 'case "blocked":\n      return { kind: "dead", reason: outcome.reason };',
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "when its thread is gone the answer is blocked with the reason",
    },
  },
  {
    name: "rejected-targets-are-forgotten",
    ids: ["ADDR-10"],
    file: "src/runs/run-context.ts",
    find: "  live.rejected.push(rejected);",
    replace: "",
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "each delivery keeps its rule and what was refused before it",
    },
  },
  {
    name: "kind-is-guessed",
    ids: ["ADDR-12"],
    file: "src/deliveries/post-message.ts",
    find: "else excluded.kind end`;",
    replace: "else 'dm' end`;",
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "any ids come back from an address, and a kind is stored, not guessed",
    },
  },
  {
    name: "reason-is-not-stored",
    ids: ["LEDG-1"],
    file: "src/ledger/end-run.ts",
    find: "    reason: end.reason,\n    usage",
    replace: "    reason: null,\n    usage",
    scenario: {
      file: "test/spec/jobs.scenario.test.ts",
      name: "a run's record has id, agent, state, reason, times and its places",
    },
  },
  {
    name: "unsaid-jobs-begin",
    ids: ["LEDG-2"],
    file: "src/runs/finish-run.ts",
    find: '  if (state === "completed" && delivery && delivery.mode !== "blocked") {',
    replace: '  if (state === "completed") {',
    scenario: {
      file: "test/spec/jobs.scenario.test.ts",
      name: "a job whose parent ends without a word never starts",
    },
  },
  {
    name: "events-are-not-deduplicated",
    ids: ["LEDG-13"],
    file: "src/turns/inbox.ts",
    find: "    key: incoming.id,",
    replace: "    key: `${incoming.id} ${Math.random()}`,",
    scenario: {
      file: "test/spec/order.scenario.test.ts",
      name: "the same event again makes nothing twice, before and after a restart",
    },
  },
  {
    name: "receipt-is-not-kept",
    ids: ["LEDG-14"],
    file: "src/deliveries/settle-op.ts",
    find: '  if (settlement.kind === "done" && settlement.platformId !== null) {',
    replace: '  if (settlement.kind === "done" && settlement.platformId === "") {',
    scenario: { file: "test/spec/deliveries.scenario.test.ts", name: "delivered means a receipt" },
  },
  {
    name: "unclear-is-sent-again",
    ids: ["LEDG-14"],
    file: "src/deliveries/attempt-op.ts",
    find: '      return later(op, context, { ...outcome, ambiguous: true });\n    case "blocked":',
    replace: '      return later(op, context, { ...outcome, ambiguous: false });\n    case "blocked":',
    scenario: {
      file: "test/spec/deliveries.scenario.test.ts",
      name: "an attempt whose answer never came is looked up before anything is sent again",
    },
  },
  {
    name: "words-wait-for-the-model",
    ids: ["LEDG-17"],
    file: "src/turns/reserved-words.ts",
    find: "  return reservedWords.find((reserved) => reserved === word) ?? null;",
    replace: "  return reservedWords.find((reserved) => reserved === word && word.length > 9) ?? null;",
    scenario: {
      file: "test/spec/words.scenario.test.ts",
      name: "status, help and new are answered while a run is going on",
    },
  },
  {
    name: "resume-begins-one-later",
    ids: ["STRM-9"],
    file: "src/streams/memory/batch.ts",
    find: "    if (events[middle]!.offset > after) high = middle;",
    replace: "    if (events[middle]!.offset > after + 1) high = middle;",
    scenario: {
      file: "test/spec/streams.scenario.test.ts",
      name: "from any offset on, what was before and what is after is the whole, once",
    },
  },
  {
    name: "facts-are-empty",
    ids: ["AGNT-1"],
    file: "src/runs/known.ts",
    find: "  return rows.filter((row) => row.id !== own).map(toFact);",
    replace: "  return rows.filter((row) => row.id === own).map(toFact);",
    scenario: {
      file: "test/spec/agents.scenario.test.ts",
      name: "functions in every form answer with the same context",
    },
  },
  {
    name: "daily-caps-are-not-kept",
    ids: ["AGNT-4"],
    file: "src/turns/daily-caps.ts",
    find: "    if (cap.runs !== undefined && (used?.runs ?? 0) >= cap.runs) return true;",
    replace: "",
    scenario: {
      file: "test/spec/agents.scenario.test.ts",
      name: "daily caps of a sender and of an agent are counted apart, and said",
    },
  },
  {
    name: "denied-senders-are-heard",
    ids: ["SECU-1"],
    file: "src/turns/inbox.ts",
    find: "  if (allowed !== true) return deny(o, incoming, allowed);",
    replace: "  if (allowed !== true) void deny(o, incoming, allowed).catch(() => {});",
    scenario: {
      file: "test/spec/security.scenario.test.ts",
      name: "a sender who is not on the list causes one counted record",
    },
  },
  {
    name: "old-signatures-count",
    ids: ["SECU-2"],
    file: "src/channels/webhook/signature.ts",
    find: "const tolerance = 300;",
    replace: "const tolerance = 300_000_000;",
    scenario: {
      file: "test/spec/channels.scenario.test.ts",
      name: "a webhook takes only what is signed, fresh and from somebody on its list",
    },
  },
];
