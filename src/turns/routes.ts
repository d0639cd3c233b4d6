import { parseAddress, type Address } from "../address/address.ts";
import { matches, parsePattern, type AddressPattern } from "../address/pattern.ts";

/** A route as the settings write it: messages of places that match `in` go to `agent`. */
export interface Route {
  in: string;
  agent: string;
}

/** The agent for a place: the first route that matches, else `fallback`. */
export function routesOf(routes: readonly Route[], fallback: string): (address: string) => string {
  const compiled: { pattern: AddressPattern; agent: string }[] = routes.map((route) => ({
    pattern: parsePattern(route.in),
    agent: route.agent,
  }));
  if (compiled.length === 0) return () => fallback;
  return (text) => {
    const address: Address = parseAddress(text);
    return compiled.find((route) => matches(route.pattern, address))?.agent ?? fallback;
  };
}
