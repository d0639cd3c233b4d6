import { useRestedRun } from "./use-rested-run.ts";

/** The agent of a run; null until it is known. */
export function useAgentName(run: string | null): string | null {
  return useRestedRun(run)?.agent ?? null;
}
