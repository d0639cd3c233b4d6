import { useCallback } from "react";
import { useSearchParams } from "wouter";

/** One value in the query of the URL, as state that survives a reload and can be sent to somebody. Null: it is not there. */
export function useSearchState(
  name: string,
): [string | null, (value: string | null, push?: boolean) => void] {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback(
    (value: string | null, push = false) => {
      setParameters(
        (before) => {
          const next = new URLSearchParams(before);
          if (value === null || value === "") next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: !push },
      );
    },
    [name, setParameters],
  );
  return [parameters.get(name), set];
}

/** Several values in the query of the URL. What is set to null or nothing is taken out; nothing is added to the history. */
export function useSearchQuery(): [
  URLSearchParams,
  (change: Readonly<Record<string, string | null>>) => void,
] {
  const [parameters, setParameters] = useSearchParams();
  const set = useCallback(
    (change: Readonly<Record<string, string | null>>) => {
      setParameters(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change)) {
            if (value === null || value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      );
    },
    [setParameters],
  );
  return [parameters, set];
}
