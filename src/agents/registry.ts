import { canonicalJson, sha256 } from "../kernel/digest.ts";
import { WaybillError } from "../kernel/errors.ts";
import type { Agent, AgentHealth, AgentHost, OpenAgent } from "./agent.ts";
import { didYouMean, invalid } from "./agent-options.ts";

/** What is well formed as an agent's name. */
export const agentName = /^[a-z0-9_][a-z0-9_-]{0,63}$/;

/** The agents of a gateway by name, in the order of the settings. */
export interface AgentRegistry {
  /** In the order of the settings; the first is the default. */
  readonly names: readonly string[];
  readonly defaultName: string;
  has(name: string): boolean;
  /** @throws WaybillError `unknown_agent` that suggests the nearest name. */
  get(name: string): Agent;
  /** SHA-256 of the agent's name and describing fields, base64url; stored with each run. @throws `unknown_agent`. */
  digest(name: string): string;
}

/**
 * Makes the registry of a gateway.
 * @throws WaybillError `config_invalid`: no agent, a malformed name, or a value that is no agent.
 */
export function agentRegistry(agents: Readonly<Record<string, Agent>>): AgentRegistry {
  const byName = new Map(Object.entries(agents));
  for (const [name, agent] of byName) checkEntry(name, agent);
  const names = [...byName.keys()];
  const [defaultName] = names;
  if (defaultName === undefined) {
    throw invalid('agents: name at least one agent, such as { assistant: agent.fn(async () => "hi") }.', {
      field: "agents",
    });
  }
  const get = (name: string): Agent => {
    const found = byName.get(name);
    if (found) return found;
    throw new WaybillError(
      "unknown_agent",
      `There is no agent "${shown(name)}". ${didYouMean(name, names)}`,
      {
        agent: shown(name),
        known: names,
      },
    );
  };
  return {
    names,
    defaultName,
    get,
    has: (name) => byName.has(name),
    digest: (name) => digestOf(name, get(name)),
  };
}

/** The agents of a running gateway. */
export interface OpenAgents {
  readonly registry: AgentRegistry;
  /** Of those that keep processes, by name. */
  health(): Map<string, AgentHealth>;
  /** Ends what agents keep between runs; resolves when nothing of it is left. */
  stop(): Promise<void>;
}

/** Opens the agents that keep something between runs; from then on a run goes to what was opened. */
export function openAgents(registry: AgentRegistry, host: Omit<AgentHost, "agent">): OpenAgents {
  const opened = new Map<string, { agent: Agent; open: OpenAgent }>();
  for (const name of registry.names) {
    const agent = registry.get(name);
    const open = agent.open?.({ ...host, agent: name, log: host.log.child({ agent: name }) });
    if (open) opened.set(name, { agent: { ...agent, run: (ctx) => open.run(ctx) }, open });
  }
  return {
    registry: { ...registry, get: (name) => opened.get(name)?.agent ?? registry.get(name) },
    health: () => new Map([...opened].map(([name, { open }]) => [name, open.health()])),
    async stop() {
      await Promise.all([...opened.values()].map(({ open }) => open.stop()));
    },
  };
}

function checkEntry(name: string, agent: unknown): void {
  const field = `agents.${shown(name)}`;
  if (!agentName.test(name)) {
    const rule = "a to z, 0 to 9, _ and -, not - at the start, and has at most 64 characters";
    throw invalid(`${field}: an agent's name is made of ${rule}.`, { field });
  }
  const made = agent as Partial<Agent> | null | undefined;
  if (typeof made?.run === "function" && typeof made.kind === "string") return;
  throw invalid(
    `${field}: this is no agent. Wrap it: agent.fn(...), agent.model(...), agent.ai(...) or agent.process(...).`,
    {
      field,
    },
  );
}

function digestOf(name: string, agent: Agent): string {
  const { kind, version, background, recovery, limits, steerable, models } = agent;
  return sha256(canonicalJson({ name, kind, version, background, recovery, limits, steerable, models }));
}

/** A name that came from outside, short and on one line. */
function shown(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, 80);
}
