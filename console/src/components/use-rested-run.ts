import { useEffect, useState } from "react";
import type { WireRun } from "../../../src/http/api.ts";
import { useRun } from "../data/runs.ts";

/** A row that is only scrolled past asks nothing. */
const restMs = 150;

/** The run that a row is about; null until it is known. */
export function useRestedRun(run: string | null): WireRun | null {
  const [rested, setRested] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setRested(true), restMs);
    return () => clearTimeout(timer);
  }, []);
  return useRun(run, rested).data ?? null;
}
