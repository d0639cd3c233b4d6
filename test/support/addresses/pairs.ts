import { nameOf, type Operation } from "./operations.ts";
import { placesOf } from "./places.ts";

/** Operations that are at most so far apart have met: what the first left behind is still going on. */
const NEAR = 10;

const placeNames = placesOf("x").map((place) => place.name);

/** How often each pair of operations met, in whatever order. */
export class Pairs {
  readonly #counts = new Map<string, number>();
  readonly #names = new Set<string>();

  note(operations: readonly Operation[]): void {
    const names = operations.map((one) => nameOf(one, (index) => placeNames[index]!));
    for (const [i, one] of names.entries()) {
      this.#names.add(one);
      for (const other of names.slice(i + 1, i + 1 + NEAR)) {
        const pair = [one, other].toSorted().join(" + ");
        this.#counts.set(pair, (this.#counts.get(pair) ?? 0) + 1);
      }
    }
  }

  /** The pairs that met least, and how often; a pair that never met counts 0. */
  least(count: number): { pair: string; times: number }[] {
    const names = [...this.#names].toSorted();
    const pairs = names.flatMap((one, i) => names.slice(i).map((other) => `${one} + ${other}`));
    const counted = pairs.map((pair) => ({ pair, times: this.#counts.get(pair) ?? 0 }));
    return counted.toSorted((a, b) => a.times - b.times).slice(0, count);
  }

  get size(): number {
    return (this.#names.size * (this.#names.size + 1)) / 2;
  }
}
