import type { Mutant } from "../mutants.ts";

const chat = "test/browser/chat.scenario.test.ts";

/** What people see in the console; the tests build it anew. */
export const consoleMutants: readonly Mutant[] = [
  {
    name: "progress-is-not-shown",
    ids: ["CHAN-3"],
    file: "console/src/pages/chat/live-row.tsx",
    find: "stateText(t, run, writing)}</span>",
    replace: "stateText(t, { ...run, progress: null }, writing)}</span>",
    scenario: { file: chat, name: "CHAN-3: people see life" },
  },
  {
    name: "answer-is-shown-when-it-is-whole",
    ids: ["CHAN-3"],
    file: "console/src/pages/chat/live-row.tsx",
    find: 'return <Markdown text={part.text} open={!part.done} />;\n    case "reasoning":',
    replace: 'return part.done ? <Markdown text={part.text} /> : null;\n    case "reasoning":',
    scenario: { file: chat, name: "CHAN-3: people see life" },
  },
  {
    name: "files-stay-in-the-composer",
    ids: ["CHAN-4"],
    file: "console/src/data/outgoing.ts",
    find: "const { id, address, text, parts, kind } = outgoing;",
    replace: "const { id, address, text, kind } = outgoing;\n  const parts: WireMessagePart[] = [];",
    scenario: { file: chat, name: "CHAN-4: files come" },
  },
  {
    name: "page-reads-what-comes-from-now-on",
    ids: ["STRM-9"],
    file: "console/src/data/streams.ts",
    find: 'query: { live: "sse", offset: follower.offset },',
    replace: 'query: { live: "sse", offset: "now" },',
    scenario: { file: chat, name: "STRM-9: a reload" },
  },
];
