import { queryClient } from "./client.ts";
import { pause } from "./waiting.ts";

/** What is hinted at again and again (a busy gateway, a job with progress) is read again at most this often. */
const restMs = 400;

const refreshing = new Map<string, "once" | "again">();
const forever = new AbortController().signal;

/**
 * Reads again what is in the cache under a key, if somebody looks at it. A hint that comes while it is being read does
 * not begin the reading anew, which under many hints would never end; it is read once more afterwards.
 */
export function refreshSoon(queryKey: readonly string[]): void {
  const name = queryKey.join(" ");
  if (refreshing.has(name)) refreshing.set(name, "again");
  else void refresh(name, queryKey);
}

async function refresh(name: string, queryKey: readonly string[]): Promise<void> {
  do {
    refreshing.set(name, "once");
    await Promise.all([queryClient.invalidateQueries({ queryKey }), pause(restMs, forever)]);
  } while (refreshing.get(name) === "again");
  refreshing.delete(name);
}
