/**
 * Every requirement as data, in one sentence each. A scenario cites the ids it proves, a mutant (mutants.ts) names
 * the ids whose scenario it must turn red, and coverage.test.ts holds the three against each other:
 *
 * - `done`: proven; at least one scenario and one mutant.
 * - `partly`: the same, for the part that `proof` names.
 * - `planned`: not claimed.
 */
export interface Requirement {
  readonly id: string;
  readonly text: string;
  readonly state: "done" | "partly" | "planned";
  /** Which part is proven, where it is not the whole. */
  readonly proof?: string;
}

// address: every reply goes back to where it was asked
const address = [
  {
    id: "ADDR-1",
    state: "done",
    text: "From acceptance to its end a turn keeps one reply address, so a send without a target posts once, there, whoever speaks elsewhere meanwhile.",
  },
  {
    id: "ADDR-2",
    state: "done",
    text: "A destination is the named target, else the turn's own address, else last active, else latest seen; each candidate is held against the allowlist and a refused one is an error, never a reason to try the next.",
  },
  {
    id: "ADDR-3",
    state: "done",
    text: "The turn's address stands in its prompt as reply_to and may be handed back as turn_conversation, also by a process that is reused for another conversation and under shared memory.",
  },
  {
    id: "ADDR-4",
    state: "done",
    text: "A tool's token is a grant over runs; the echo or a recorded turn id only selects among them, and what matches none or several, or was altered, is refused with the address to use.",
  },
  {
    id: "ADDR-5",
    state: "done",
    text: "Last active and latest seen serve only sends outside any turn, where the operator switched that on; both are stored per channel account and independent of each other.",
  },
  {
    id: "ADDR-6",
    state: "done",
    text: "After a refusal that names the right address, an agent that stops naming targets still reaches the place of its own turn.",
  },
  {
    id: "ADDR-7",
    state: "done",
    text: "A post to another conversation needs a rule that names it, and from a direct message to anything wider one that names both ends; nothing reaches a wider audience by fallback.",
  },
  {
    id: "ADDR-8",
    state: "done",
    text: "A send to somewhere else, whether it succeeds or not, leaves the destination of the turn's answer as it was.",
  },
  {
    id: "ADDR-9",
    state: "done",
    text: "An address is used whole or not at all: when its thread is gone the delivery is blocked with the reason, and nothing is posted at the root or mixed with another address or another person's message.",
  },
  {
    id: "ADDR-10",
    state: "done",
    text: "Each delivery keeps the rule that chose its destination and the candidates that were rejected, and one command and one request tell why it went there.",
  },
  {
    id: "ADDR-11",
    state: "done",
    text: "What a schedule produces has a destination of its own, and an incomplete one is held and shown.",
  },
  {
    id: "ADDR-12",
    state: "done",
    text: "Any platform ids survive the way from address to text and back, and whether a conversation is direct or public is stored, not read out of its id.",
  },
  {
    id: "ADDR-13",
    state: "done",
    text: "A tool call that comes after its run ended reaches that run's address within a grace time and is refused later.",
  },
  {
    id: "ADDR-14",
    state: "done",
    text: "The place where a message was asked and the place where its answer was posted are both on record, and a link to a post leads to its whole story.",
  },
] as const satisfies readonly Requirement[];

// ledger: what is running is looked up
const ledger = [
  {
    id: "LEDG-1",
    state: "done",
    text: "What was said, what is running and where an answer is due have three owners; a run's record has its id, agent, state, reason, times, the place where it was asked and the place where it was posted.",
  },
  {
    id: "LEDG-2",
    state: "done",
    text: "A background job is recorded when it is asked for, can be claimed only from the commit that acknowledges it, and never starts when its parent dies before.",
  },
  {
    id: "LEDG-3",
    state: "planned",
    text: "A question about status is answered from the ledger alone, also without a model, and a model is given the facts of its conversation's runs.",
  },
  {
    id: "LEDG-4",
    state: "planned",
    text: "Status is found by run or by place: a thread counts only what was asked, is due or was posted there, and live runs come first however old.",
  },
  {
    id: "LEDG-5",
    state: "planned",
    text: "In a thread that a top-level answer opened, the fiftieth question about the job finds it like the first, however short the model's memory.",
  },
  {
    id: "LEDG-6",
    state: "planned",
    text: "A thread's memory begins with the message that opened it, its direct answer and the completions posted in it, each with its origin, and with the bounded earlier talk where the bot was called into it.",
  },
  {
    id: "LEDG-7",
    state: "planned",
    text: "Jobs that end in another order than they were asked for are each told in their own thread and in no other.",
  },
  {
    id: "LEDG-8",
    state: "planned",
    text: "A shutdown during a job marks it interrupted with the reason and, in the same transaction, leaves a notice in the thread where its answer was due.",
  },
  {
    id: "LEDG-9",
    state: "planned",
    text: "When that notice could not be posted, or the machine was lost, exactly one is posted after the next start.",
  },
  {
    id: "LEDG-10",
    state: "planned",
    text: "No run executes twice after a restart: who lost a lease can write nothing any more, and what happens to the run is a policy of its agent.",
  },
  {
    id: "LEDG-11",
    state: "planned",
    text: "A stored completion carries the id of its run, so a later question finds exactly that run.",
  },
  {
    id: "LEDG-12",
    state: "planned",
    text: "No time window hides a live run, and an answer about what is older than the retention says that such records were removed.",
  },
  {
    id: "LEDG-13",
    state: "done",
    text: "What was accepted before a crash is handled after it, in order for each conversation, and the same platform event seen again makes nothing twice.",
  },
  {
    id: "LEDG-14",
    state: "done",
    text: "A delivery counts as delivered only with the platform's receipt; an ambiguous attempt is settled by key or by reading back, else shown as unknown; operations of one address keep their order, a long answer keeps all its receipts, and retries end in a dead letter that can be sent again by hand.",
  },
  {
    id: "LEDG-15",
    state: "planned",
    text: "A run that was killed, failed or cancelled never reads as completed, its parent learns of it, and a late result does not revive it.",
  },
  {
    id: "LEDG-16",
    state: "done",
    text: "Turns of a lane run in order; a message that comes meanwhile is queued, steers or interrupts as set, and no lane waits for another lane's model call.",
  },
  {
    id: "LEDG-17",
    state: "partly",
    text: "The words stop, new, status and help are understood before queue and model, also in threads, and a thread whose memory outgrew the model's window goes on.",
    proof:
      "the words, and a memory that gives the latest items; not yet compaction by the size of the model's window",
  },
] as const satisfies readonly Requirement[];

// audit: what agents tell each other stays readable
const audit = [
  {
    id: "AUDT-1",
    state: "planned",
    text: "The tools by which agents start and instruct one another each store a sealed payload for the receiver and a readable copy for people.",
  },
  {
    id: "AUDT-2",
    state: "planned",
    text: "The receiver is given only what was sealed for it, on resume and replay too, and the sender sees its own call as it made it.",
  },
  {
    id: "AUDT-3",
    state: "planned",
    text: "History, trace, log and console show the readable copy and never ciphertext in its place; a run's rollout can be exported with both.",
  },
  {
    id: "AUDT-4",
    state: "planned",
    text: "A readable copy that is missing, empty or over 8,192 bytes is refused when the tool is called, as is a provider's ciphertext over 16,384 bytes.",
  },
  {
    id: "AUDT-5",
    state: "planned",
    text: "Messages are told apart by id, so two with the same text stay two.",
  },
  {
    id: "AUDT-6",
    state: "planned",
    text: "Records of the plain mode stay readable, and a record replays in the form it was stored in.",
  },
  {
    id: "AUDT-7",
    state: "planned",
    text: "A copy that we sealed ourselves is bound to its payload and shows as verified, a mere claim of the sender as claimed, and a difference as mismatch.",
  },
  {
    id: "AUDT-8",
    state: "planned",
    text: "Queues and databases hold the payload only as ciphertext that no other agent can open or replay; the copies have a store, a scope and a retention of their own.",
  },
  {
    id: "AUDT-9",
    state: "planned",
    text: "A child's final answer becomes input of whoever waits for it exactly once, through idleness, compaction and crashes; ends are seen at once and reach the children.",
  },
  {
    id: "AUDT-10",
    state: "planned",
    text: "Depth and number of living agents are limited, and the refusal says so.",
  },
  {
    id: "AUDT-11",
    state: "planned",
    text: "Session files of the Codex CLI can be read: who started whom, what is readable, what is only ciphertext.",
  },
] as const satisfies readonly Requirement[];

// streams: one writer, one way out, every token once
const streams = [
  {
    id: "STRM-1",
    state: "planned",
    text: "Each call has a stream and a new id of its own, its chain of callers travels in headers, and the browser has one way out, that of the root.",
  },
  {
    id: "STRM-2",
    state: "planned",
    text: "Five tokens of an agent that sandboxed code of another agent called reach a real browser as exactly five deltas.",
  },
  {
    id: "STRM-3",
    state: "planned",
    text: "Two parallel calls that replace placeholders each come out as if they had run alone.",
  },
  {
    id: "STRM-4",
    state: "planned",
    text: "A nested call with a missing, used, broken or foreign identity, or one too deep, is refused by the rule it broke and the way to fix it.",
  },
  {
    id: "STRM-5",
    state: "done",
    text: "A stream has one writer by epoch, a second or outdated one is refused, and reading can never write.",
  },
  {
    id: "STRM-6",
    state: "planned",
    text: "Sandboxed code has one way out, which derives ids and carries the context, and the code that ran is kept with its run.",
  },
  {
    id: "STRM-7",
    state: "planned",
    text: "What was written to a stream and what each reader was sent is counted, shown with the trace, and a difference raises a metric.",
  },
  { id: "STRM-8", state: "planned", text: "The sandbox's progress notes reach the browser directly." },
  {
    id: "STRM-9",
    state: "done",
    text: "A reader that comes back goes on after the last event it saw, without loss, repetition or a second generation, and a slow one delays nobody and costs bounded memory.",
  },
  {
    id: "STRM-10",
    state: "done",
    text: "Nothing is appended to a closed stream, a late event changes no finished answer, and a preview and its final message are one post.",
  },
  {
    id: "STRM-11",
    state: "planned",
    text: "Writer and reader may be on different nodes, and when the writer's node dies the stream closes as interrupted and the browser is told.",
  },
  {
    id: "STRM-12",
    state: "planned",
    text: "Nested output is shown once, in the way the caller chose, and a child's start, end or error is never its parent's.",
  },
] as const satisfies readonly Requirement[];

// channels, agents, security, operation
const rest = [
  {
    id: "CHAN-1",
    state: "done",
    text: "A channel is a small folder that verifies, parses, renders and sends, and one contract suite runs for all of them.",
  },
  {
    id: "CHAN-2",
    state: "done",
    text: "A platform gets its acknowledgement only after the event is committed.",
  },
  {
    id: "CHAN-3",
    state: "partly",
    text: "People see that something happens: typing or status, streamed text, progress, and one message that is finished in place.",
    proof:
      "the web page, and what a channel is called with; the typing of each platform comes with its channel",
  },
  {
    id: "CHAN-4",
    state: "done",
    text: "Files that people send reach the agent as parts, or the sender is told what was left out and why; an agent may end without posting.",
  },
  {
    id: "AGNT-1",
    state: "partly",
    text: "Functions, models with tools, pooled command line agents and agents behind HTTP get the same context, may run sandboxed code, and know no channel.",
    proof: "functions, models, AI SDK agents and pooled processes",
  },
  {
    id: "AGNT-2",
    state: "done",
    text: "One pooled process serves several conversations without mixing them, with no value of a turn in its environment.",
  },
  {
    id: "AGNT-3",
    state: "planned",
    text: "An approval is asked in the conversation of its turn and answered only by somebody allowed.",
  },
  {
    id: "AGNT-4",
    state: "done",
    text: "Tokens, steps and wall time of a run and daily caps of senders and agents are enforced, and people are told.",
  },
  {
    id: "SECU-1",
    state: "done",
    text: "Who is not on the list causes nothing but one record of the denial: no queueing, steering, interrupting, memory or status.",
  },
  {
    id: "SECU-2",
    state: "done",
    text: "Signatures, tokens and origins are checked, secrets stay out of logs and prompts, sizes and rates are limited, and a setting that cannot work is refused at start by name.",
  },
  {
    id: "OPER-1",
    state: "done",
    text: "Health, metrics and structured logs with the ids of turn, run, stream and delivery are there, and doctor finds a wrong setting before a user does.",
  },
] as const satisfies readonly Requirement[];

const all = [...address, ...ledger, ...audit, ...streams, ...rest] as const;

export type RequirementId = (typeof all)[number]["id"];

export const requirements: readonly Requirement[] = all;
