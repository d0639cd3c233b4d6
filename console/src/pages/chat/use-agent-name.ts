import { useEffect, useState } from "react";
import { useRun } from "../../data/runs.ts";

/** A row that is only scrolled past asks nothing. */
const restMs = 150;

/** The agent of a run; null until it is known. */
export function useAgentName(run: string | null): string | null {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), restMs);
    return () => clearTimeout(timer);
  }, []);
  return useRun(run, rested).data?.agent ?? null;
}
