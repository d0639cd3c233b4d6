import { QueryClient } from "@tanstack/react-query";
import { isPassing } from "./api.ts";

/**
 * The one cache. Keys begin with what they hold: `conversations`, `timeline` + address, `live-runs` + address,
 * `run` + id, `runs` + filter, `delivery` + id, `deliveries` + filter, `schedules`, `refusals`, `denials`, `channels`. The live feed (live.ts) keeps them
 * fresh, so nothing is asked again merely because time has passed or a window was focused.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) => isPassing(error) && failures < 3,
      retryDelay: (failures) => Math.min(4_000, 400 * 2 ** failures),
      // The feed says by itself whether the server is there; a laptop without a network still has its loopback.
      networkMode: "always",
    },
    mutations: { networkMode: "always", retry: false },
  },
});
