import { useQuery } from "@tanstack/react-query";
import type { WireChannel, WireDenial } from "../../../src/http/api.ts";
import { get } from "./api.ts";
import { usePages } from "./pages.ts";

/** Nobody sends a hint about channels, or about who was turned away. */
const lookAgainMs = 5_000;

/** The channels of the node that answers, and how each stands. */
export function useChannels() {
  return useQuery({
    queryKey: ["channels"],
    queryFn: ({ signal }) => get<{ items: WireChannel[] }>("/v1/channels", {}, signal),
    select: ({ items }) => items,
    refetchInterval: lookAgainMs,
  });
}

/** Who was turned away, the latest first, in pages. */
export function useDenials() {
  return usePages<WireDenial>("denials", {}, keyOfDenial, lookAgainMs);
}

export const keyOfDenial = ({ address, sender, reason }: WireDenial): string =>
  JSON.stringify([address, sender, reason]);
