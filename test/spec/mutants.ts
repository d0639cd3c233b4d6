import type { RequirementId } from "./requirements.ts";

/**
 * A small change of the source that must turn a scenario red. `npm run mutants` applies each in a copy of the
 * checkout, runs its scenario and reports those that survive; none may.
 */
export interface Mutant {
  /** Kebab-case and unique: `npm run mutants -- <name>`. */
  readonly name: string;
  /** The requirements whose proof it tests. */
  readonly ids: readonly RequirementId[];
  /** The file to change, from the root of the checkout, and a text that stands in it exactly once. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The scenario that must fail: its file, and a regular expression that its full title matches. */
  readonly scenario: { readonly file: string; readonly name: string };
}

export const mutants: readonly Mutant[] = [
  {
    name: "turn-reaches-the-slots",
    ids: ["ADDR-1"],
    file: "src/runs/run-context.ts",
    find: "{ explicit, turn: live.run.replyTo },",
    replace: '{ explicit: explicit ?? "web:main/general", turn: live.run.replyTo },',
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "a send without a target reaches the DM that asked",
    },
  },
  {
    name: "refused-target-falls-through",
    ids: ["ADDR-2"],
    file: "src/deliveries/choose-destination.ts",
    find: "  if (refusal !== true) throw notAllowed(candidate.rule, address, refusal, turn);",
    replace:
      '  if (refusal !== true) {\n    if (turn && candidate.rule === "explicit") return { address: turn, rule: "turn", rejected: [] };\n    throw notAllowed(candidate.rule, address, refusal, turn);\n  }',
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "a named target wins over the turn's address",
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
    ids: ["ADDR-7", "ADDR-8"],
    file: "src/deliveries/choose-destination.ts",
    find: "  if (sameConversation(from, to)) return;\n  const fromKind",
    replace: "  if (from) return;\n  const fromKind",
    scenario: {
      file: "test/spec/cross-post.scenario.test.ts",
      name: "content reaches a wider audience only by a rule that names both ends",
    },
  },
  {
    name: "a-send-moves-the-answer",
    ids: ["ADDR-8"],
    file: "src/runs/run-context.ts",
    find: "  live.saidHere ||= isHere;",
    replace: "  live.saidHere ||= isHere;\n  Object.assign(live.place, target.place);",
    scenario: {
      file: "test/spec/cross-post.scenario.test.ts",
      name: "sends elsewhere, done or refused, leave the answer where it was asked",
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
    name: "posted-place-is-not-noted",
    ids: ["ADDR-14"],
    file: "src/deliveries/settle-op.ts",
    find: '  if (state === "delivered") yield* markPosted(tenant, row.delivery_id, row.address);',
    replace: "",
    scenario: {
      file: "test/spec/addresses.scenario.test.ts",
      name: "where it was asked and where it was posted are both on record",
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
    name: "jobs-begin-at-once",
    ids: ["LEDG-2"],
    file: "src/runs/start-job.ts",
    find: 'ready: false, state: "staged", foreground: false }',
    replace: 'ready: true, state: "queued", foreground: false }',
    scenario: {
      file: "test/spec/jobs.scenario.test.ts",
      name: "a job begins with its parent's next message there, and not before",
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
    name: "delivered-without-a-receipt",
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
    name: "every-run-is-ready",
    ids: ["LEDG-16"],
    file: "src/turns/accept-message.ts",
    find: 'const ready = run.state === "queued" && head === undefined;',
    replace: 'const ready = run.state === "queued";',
    scenario: { file: "test/spec/order.scenario.test.ts", name: "a busy lane queues; other lanes" },
  },
  {
    name: "steering-takes-anybody",
    ids: ["LEDG-16"],
    file: "src/runs/absorb-turns.ts",
    find: " || asked.sender.id !== input.sender) break;",
    replace: ") break;",
    scenario: {
      file: "test/spec/order.scenario.test.ts",
      name: "steer: a run takes what the same person adds there",
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
    name: "stop-reaches-every-place",
    ids: ["LEDG-17"],
    file: "src/ledger/ask-abort.ts",
    find: '    .where("origin", "=", p.address)\n    .where("reply_to", "=", p.address)',
    replace: '    .where("reply_to", "<>", p.address)',
    scenario: {
      file: "test/spec/words.scenario.test.ts",
      name: "stop ends what runs and waits in that place only, and says so",
    },
  },
  {
    name: "older-epochs-may-write",
    ids: ["STRM-5"],
    file: "src/streams/memory/memory-streams.ts",
    find: "    if (known && epoch <= known.head.epoch) {",
    replace: "    if (known && epoch < 0) {",
    scenario: { file: "test/spec/streams.scenario.test.ts", name: "a stream has one writer" },
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
    name: "late-deltas-are-added",
    ids: ["STRM-10"],
    file: "src/runs/live-run.ts",
    find: "    if (!this.ended) return;\n    throw",
    replace: '    if (this.run.id !== "") return;\n    throw',
    scenario: { file: "test/spec/streams.scenario.test.ts", name: "nothing is added after the end" },
  },
  {
    name: "acknowledged-before-the-commit",
    ids: ["CHAN-2"],
    file: "src/channels/webhook/webhook-channel.ts",
    find: "  const { turn, run, address, outcome } = await ports.inbox.accept(toIncoming(message, settings));",
    replace:
      '  void ports.inbox.accept(toIncoming(message, settings)).catch(() => {});\n  const [turn, run, address, outcome] = ["turn_0", "run_0", "webhook:main/x", "queued"];',
    scenario: {
      file: "test/spec/channels.scenario.test.ts",
      name: "an event is acknowledged when it is committed, not before",
    },
  },
  {
    name: "left-out-is-not-told",
    ids: ["CHAN-4"],
    file: "src/turns/inbox.ts",
    find: "of incoming.leftOut ?? []) {",
    replace: "of (incoming.leftOut ?? []).slice(99)) {",
    scenario: {
      file: "test/spec/agents.scenario.test.ts",
      name: "what was left out is told with the reason, and the rest is answered",
    },
  },
  {
    name: "silence-is-posted",
    ids: ["CHAN-4"],
    file: "src/runs/finish-live.ts",
    find: '  if (outcome.state !== "completed" || live.silent) return null;',
    replace: '  if (outcome.state !== "completed") return null;',
    scenario: { file: "test/spec/agents.scenario.test.ts", name: "an agent may finish without posting" },
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
    name: "tokens-are-not-limited",
    ids: ["AGNT-4"],
    file: "src/runs/live-run.ts",
    find: "if (limits.tokens !== undefined && tokens > limits.tokens) {",
    replace: "if (limits.tokens !== undefined && tokens > limits.tokens * 1000) {",
    scenario: {
      file: "test/spec/agents.scenario.test.ts",
      name: "tokens and steps of a run are limited, and the person is told which",
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
    name: "foreign-origins-come-in",
    ids: ["SECU-2"],
    file: "src/http/door.ts",
    find: "  if (isOwn(origin, hostOf(c))) return null;",
    replace: '  if (origin !== "") return null;',
    scenario: {
      file: "test/spec/security.scenario.test.ts",
      name: "without the token, from a foreign page or under a foreign name nothing is served",
    },
  },
  {
    name: "secrets-are-told",
    ids: ["SECU-2"],
    file: "src/runs/end-notice.ts",
    find: "detail: redact(said) };",
    replace: "detail: said };",
    scenario: {
      file: "test/spec/security.scenario.test.ts",
      name: "what an agent throws reaches people and logs without what looks like a secret",
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
  {
    name: "ready-while-stopping",
    ids: ["OPER-1"],
    file: "src/gateway/http-ports.ts",
    find: '  if (parts.closing.now) return { ready: false, reason: "the gateway is stopping" };',
    replace: "",
    scenario: {
      file: "test/spec/operation.scenario.test.ts",
      name: "while it stops it says that it is not ready",
    },
  },
  {
    name: "logs-without-ids",
    ids: ["OPER-1"],
    file: "src/runs/execute-run.ts",
    find: "s.log.child({ run: live.run.id, turn: live.run.turn, stream: live.run.stream });",
    replace: "s.log.child({});",
    scenario: {
      file: "test/spec/operation.scenario.test.ts",
      name: "logs carry the ids of turn, run, stream and delivery",
    },
  },
];
