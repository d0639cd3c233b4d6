import type {
  AgentInput,
  HistoryItem,
  JsonValue,
  MessagePart,
  RunContext,
  RunFact,
  RunLimits,
  UIChunk,
} from "../../src/agents/agent.ts";
import { WaybillError } from "../../src/kernel/errors.ts";
import { silentLogger } from "../../src/kernel/logger.ts";

export interface FakeContextOptions {
  text?: string;
  parts?: MessagePart[];
  history?: HistoryItem[];
  facts?: RunFact[];
  limits?: RunLimits;
  sender?: { id: string; name: string | null };
  /** What `takeSteering` gives, one list for each time it is asked. */
  steering?: { id: string; text: string; parts: MessagePart[] }[][];
}

/** A hand-made run context that records what an agent did with it, for tests of agents without a gateway. */
export interface FakeContext {
  ctx: RunContext;
  /** Each text delta, in order: those of `stream.text` and those of merged streams. */
  deltas: string[];
  /** The chunks of merged streams, as they came. */
  chunks: UIChunk[];
  data: { name: string; value: JsonValue; id: string | undefined }[];
  progress: { text: string; percent: number | undefined }[];
  started: { agent: string; input: string | AgentInput }[];
  said: string[];
  used: { inputTokens: number; outputTokens: number; steps: number };
  abort(reason?: Error): void;
  /** Resolves when `deltas` has at least `count` items. */
  delta(count: number): Promise<void>;
  /** Resolves when `progress` has at least `count` items. */
  progressed(count: number): Promise<void>;
}

export function fakeContext(options: FakeContextOptions = {}): FakeContext {
  const aborter = new AbortController();
  const deltas = watched<string>();
  const progress = watched<{ text: string; percent: number | undefined }>();
  const steering = [...(options.steering ?? [])];
  const fake = {
    deltas: deltas.items,
    progress: progress.items,
    chunks: [] as UIChunk[],
    data: [] as FakeContext["data"],
    started: [] as FakeContext["started"],
    said: [] as string[],
    used: { inputTokens: 0, outputTokens: 0, steps: 0 },
    abort: (reason?: Error) => aborter.abort(reason),
    delta: deltas.reached,
    progressed: progress.reached,
  };
  const ctx: RunContext = {
    text: options.text ?? "hello",
    message: { id: "msg_1", parts: options.parts ?? [] },
    sender: { id: "U1", name: "Ada", principal: null, ...options.sender },
    history: options.history ?? [],
    facts: options.facts ?? [],
    address: "web:default/c1",
    echo: "web:default/c1~signed",
    run: { id: "run_1", turn: "turn_1", trace: "trace_1", stream: "str_1", attempt: 1, agent: "assistant" },
    signal: aborter.signal,
    log: silentLogger,
    limits: options.limits ?? {},
    stream: {
      text: (delta) => deltas.add(delta),
      data: (name, value, how) => void fake.data.push({ name, value, id: how?.id }),
      merge: async (stream) => {
        for await (const chunk of stream) {
          fake.chunks.push(chunk);
          if (chunk.type === "text-delta") deltas.add(chunk.delta as string);
        }
      },
    },
    say: async (text) => ({ delivery: `dlv_${fake.said.push(text)}` }),
    send: () => Promise.reject(new WaybillError("cross_post_not_allowed", "The fake sends nowhere.")),
    progress: async (text, percent) => progress.add({ text, percent }),
    start: async (agent, input) => ({ run: `run_job${fake.started.push({ agent, input })}` }),
    status: ({ run }) => Promise.reject(new WaybillError("unknown_run", `No run ${run} here.`)),
    checkpoint: async () => {},
    resumedFrom: null,
    silent: () => {},
    use: (usage) => addUsage(fake.used, usage, options.limits ?? {}),
    takeSteering: async () => steering.shift() ?? [],
    remind: async () => ({ schedule: "sched_fake" }),
    grant: async (holder) => ({ token: `wbg_${holder}`, url: null }),
  };
  return { ctx, ...fake };
}

function addUsage(used: FakeContext["used"], usage: Partial<FakeContext["used"]>, limits: RunLimits): void {
  used.inputTokens += usage.inputTokens ?? 0;
  used.outputTokens += usage.outputTokens ?? 0;
  used.steps += usage.steps ?? 0;
  const tokens = used.inputTokens + used.outputTokens;
  if (limits.tokens !== undefined && tokens > limits.tokens) {
    throw new WaybillError("token_limit", "Too many tokens.", { limit: limits.tokens, used: tokens });
  }
  if (limits.steps !== undefined && used.steps > limits.steps) {
    throw new WaybillError("step_limit", "Too many steps.", { limit: limits.steps, used: used.steps });
  }
}

/** A list whose length can be waited for. */
function watched<T>() {
  const items: T[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  return {
    items,
    add(item: T) {
      items.push(item);
      for (const waiter of waiting.filter(({ count }) => items.length >= count)) waiter.resolve();
      waiting = waiting.filter(({ count }) => items.length < count);
    },
    reached: (count: number) =>
      items.length >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => waiting.push({ count, resolve })),
  };
}
