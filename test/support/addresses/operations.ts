/** What happens in a history, drawn at random. */
import fc from "fast-check";
import type { Act } from "./wire.ts";
import { targets } from "./places.ts";

export type Operation =
  /** Somebody asks at a place (an index into `placesOf`); some at the same time. */
  | { op: "ask"; asks: Ask[] }
  /** A run that waits may answer; `pick` chooses among them. */
  | { op: "release"; pick: number }
  /** A call for tools with the token of a run, live or ended. */
  | { op: "tool"; pick: number; ended: boolean; echo: EchoKind; to: string | null }
  | { op: "operator"; to: number }
  | { op: "restart" }
  | { op: "kill" };

export interface Ask {
  place: number;
  acts: Omit<Act, "expected">[];
  hold: boolean;
  holder: string;
}

/** `own`: as it was given; `forged`: its signature altered; `moved`: its address; `stolen`: another holder's; `prose`. */
export const echoKinds = ["own", "forged", "moved", "stolen", "prose", "none"] as const;
export type EchoKind = (typeof echoKinds)[number];

const act = fc.oneof(
  fc.constant({ do: "say" as const }),
  fc.constant({ do: "send-nowhere" as const }),
  fc.record({ do: fc.constant("send" as const), to: fc.constantFrom(...targets) }),
);

const ask = fc.record({
  place: fc.nat(9),
  acts: fc.array(act, { maxLength: 3 }),
  hold: fc.boolean(),
  holder: fc.constantFrom("one", "two", "three"),
});

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 30, arbitrary: fc.record({ op: fc.constant("ask" as const), asks: fc.tuple(ask) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("ask" as const),
      asks: fc.array(ask, { minLength: 2, maxLength: 4 }),
    }),
  },
  { weight: 22, arbitrary: fc.record({ op: fc.constant("release" as const), pick: fc.nat(20) }) },
  {
    weight: 28,
    arbitrary: fc.record({
      op: fc.constant("tool" as const),
      pick: fc.nat(20),
      ended: fc.boolean(),
      echo: fc.constantFrom(...echoKinds),
      to: fc.option(fc.constantFrom(...targets), { freq: 3 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ op: fc.constant("operator" as const), to: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.constant({ op: "restart" as const }) },
  { weight: 2, arbitrary: fc.constant({ op: "kill" as const }) },
);

/** What an operation is called where pairs of them are counted. */
export function nameOf(one: Operation, placeName: (index: number) => string): string {
  if (one.op === "ask") return one.asks.length > 1 ? "ask-at-once" : `ask-${placeName(one.asks[0]!.place)}`;
  if (one.op === "tool") return `${one.ended ? "late" : "tool"}-${one.echo}`;
  return one.op;
}
