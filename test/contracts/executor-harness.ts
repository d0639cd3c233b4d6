/** An executor on a real store, with agents that tests write and a store that fails where they say. */
import type { Agent } from "../../src/agents/agent.ts";
import { agentRegistry } from "../../src/agents/registry.ts";
import type { Database } from "../../src/db/database.ts";
import { manualClock, type ManualClock } from "../../src/kernel/clock.ts";
import { isTerminal, type RunState } from "../../src/ledger/run.ts";
import { echoSigner } from "../../src/runs/echo.ts";
import { Executor } from "../../src/runs/executor.ts";
import { grantTokens } from "../../src/runs/grant-tokens.ts";
import type { RunServices } from "../../src/runs/services.ts";
import { memoryStreams } from "../../src/streams/memory/memory-streams.ts";
import { LedgerHarness } from "./ledger-harness.ts";

export interface Works {
  ledger: LedgerHarness;
  executor: Executor;
  services: RunServices;
  clock: ManualClock;
  node: string;
  /** What was logged as an error, by its message. */
  errors: string[];
  /** Resolves when the run has ended, with its state. */
  ended(run: string | null): Promise<RunState>;
}

/** @param db what the executor is given; commands of the test itself go to the store it stands on */
export async function worksOn(
  store: Database,
  agents: Record<string, Agent>,
  change: (services: RunServices) => Partial<RunServices> = () => ({}),
): Promise<Works> {
  const ledger = new LedgerHarness(store);
  const versions = Object.entries(agents).map(([name, { version }]) => ({ name, version }));
  const node = await ledger.register(versions);
  const clock = manualClock(Date.now());
  const ends = new Map<string, RunState>();
  const waiting = new Map<string, (state: RunState) => void>();
  const errors: string[] = [];
  const silent = (): void => {};
  const log = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (_fields: unknown, message: string) => void errors.push(message),
    child: () => log,
  };
  const services: RunServices = {
    ...ledger.services(node),
    clock,
    log,
    agents: agentRegistry(agents),
    streams: memoryStreams({ clock }),
    crossPost: [],
    memory: "conversation",
    memoryWindow: 40,
    runLimits: {},
    answerLimit: 100_000,
    abortGraceMs: 2_000,
    followUp: "queue",
    caps: {},
    echoes: echoSigner(Buffer.alloc(32, 7), "default"),
    grants: grantTokens(ledger.services(node).ids),
    toolGraceMs: 60_000,
    url: null,
    live: () => null,
    hear: {
      posted: silent,
      opsAdded: silent,
      runsReady: () => executor.wake(),
      runChanged(run, _address, state) {
        if (!isTerminal(state)) return;
        ends.set(run, state);
        waiting.get(run)?.(state);
      },
    },
  };
  Object.assign(services, change({ ...services }));
  const executor = new Executor(services, 100);
  return {
    ledger,
    executor,
    services,
    clock,
    node,
    errors,
    ended(run) {
      const id = run ?? "";
      const state = ends.get(id);
      if (state) return Promise.resolve(state);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
  };
}
