import { useSyncExternalStore } from "react";
import { access, ApiError, get } from "./api.ts";
import { queryClient } from "./client.ts";
import { refreshConversations, reloadConversations } from "./conversations.ts";
import { refreshSoon } from "./runs-refresh.ts";
import { withSlot } from "./slots.ts";
import { readEvents } from "./sse.ts";
import { untilToken } from "./streams.ts";
import { refreshPlace, shownPlaces } from "./timeline.ts";
import { backoff, pause, untilHidden, untilVisible } from "./waiting.ts";

/**
 * The live feed: one connection of this window that says where something changed, and what keeps the cache fresh by
 * it. `polling`: all connections of this browser are in use, so this window asks again and again.
 */
export interface LiveState {
  status: "connecting" | "live" | "polling" | "offline";
  /** The version of the server, once it was asked. */
  version: string | null;
}

let state: LiveState = { status: "connecting", version: null };
const hearers = new Set<() => void>();

function set(change: Partial<LiveState>): void {
  const next = { ...state, ...change };
  if (next.status === state.status && next.version === state.version) return;
  state = next;
  for (const hear of hearers) hear();
}

export function useLive(): LiveState {
  return useSyncExternalStore(
    (hear) => {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    () => state,
  );
}

/** Hints are gathered for so long before anything is asked. */
const gatherMs = 60;
const pollMs = 2_500;
const hiddenMs = 30_000;

const places = new Set<string>();
const stale = new Set<string>();
let gathering = false;

function gather(): void {
  if (gathering) return;
  gathering = true;
  setTimeout(() => {
    gathering = false;
    const shown = shownPlaces().filter((address) => places.has(address));
    const keys = [...stale];
    places.clear();
    stale.clear();
    for (const address of shown) refreshPlace(address).catch(() => {});
    refreshConversations().catch(() => {});
    for (const key of keys) refreshSoon(key.split(" "));
  }, gatherMs);
}

/** What may have changed with any hint. */
const withoutHints = ["deliveries", "refusals", "schedules", "story", "stuck"];

function hear(event: string, data: string): void {
  if (event === "missed") return void resync();
  const hint = JSON.parse(data) as { address: string; run?: string; delivery?: string };
  if (event === "posted" || event === "run") places.add(hint.address);
  if (event === "run") stale.add("runs").add(`run ${hint.run}`);
  // A post on our own channel stands with its run's end: there is no hint about its delivery.
  for (const key of withoutHints) stale.add(key);
  if (event === "delivery") stale.add(`delivery ${hint.delivery}`);
  gather();
}

/** After a pause nobody knows what was missed: everything that is shown is read again. */
async function resync(): Promise<void> {
  for (const key of ["runs", "run", "delivery", "node", "channels", "denials", ...withoutHints]) {
    void queryClient.invalidateQueries({ queryKey: [key] });
  }
  const { version } = await get<{ version: string }>("/healthz");
  set({ version });
  await Promise.allSettled([reloadConversations(), ...shownPlaces().map(refreshPlace)]);
}

async function listen(signal: AbortSignal): Promise<void> {
  await readEvents("/v1/conversations/events", {
    signal,
    onOpen: () => {
      set({ status: "live" });
      void resync().catch(() => {});
    },
    onEvent: ({ event, data }) => {
      if (event !== undefined) hear(event, data);
    },
  });
}

async function lookOnce(signal: AbortSignal): Promise<void> {
  await resync();
  set({ status: "polling" });
  await pause(pollMs, signal);
}

/** Listens until the signal aborts. */
export async function runLive(signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const looked = untilHidden(signal);
    try {
      if (looked.signal.aborted) await whileHidden(signal);
      else if ((await withSlot(() => listen(looked.signal))) === null) await lookOnce(looked.signal);
      failures = 0;
      await pause(200, signal);
    } catch (error) {
      if (looked.signal.aborted) continue;
      if (error instanceof ApiError && error.status === 401) await untilToken(signal);
      else {
        set({ status: "offline" });
        await pauseOrOnline(backoff(failures), signal);
      }
      failures += 1;
    } finally {
      looked.stop();
    }
  }
}

/** A window that nobody looks at has no connection; it looks now and then, for its title's sake. */
async function whileHidden(signal: AbortSignal): Promise<void> {
  const visible = new AbortController();
  void untilVisible(signal).then(() => visible.abort());
  while (!visible.signal.aborted) {
    await pause(hiddenMs, visible.signal);
    if (!visible.signal.aborted) await refreshConversations().catch(() => {});
  }
}

function pauseOrOnline(ms: number, signal: AbortSignal): Promise<void> {
  const online = new AbortController();
  const wake = (): void => online.abort();
  addEventListener("online", wake);
  return pause(ms, AbortSignal.any([signal, online.signal])).finally(() =>
    removeEventListener("online", wake),
  );
}

/** Another token was given: all that was refused is asked again. */
access.subscribe(() => {
  if (!access.refused)
    void queryClient.refetchQueries({ predicate: (query) => query.state.status === "error" });
});
