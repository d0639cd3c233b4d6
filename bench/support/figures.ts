/** Value at a share of sorted samples (0.5 is the median), nearest rank. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1));
  return sorted[at] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** One figure of a bench, as it is printed and stored. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What the issue asks for, as text; null where the figure only accompanies another. */
  goal: string | null;
  met: boolean | null;
}

export function atLeast(name: string, value: number, goal: number, unit: string): Figure {
  return { name, value: round(value), unit, goal: `>= ${goal}`, met: value >= goal };
}

export function atMost(name: string, value: number, goal: number, unit: string): Figure {
  return { name, value: round(value), unit, goal: `<= ${goal}`, met: value <= goal };
}

export function aside(name: string, value: number, unit: string): Figure {
  return { name, value: round(value), unit, goal: null, met: null };
}

/** Hands the figures of one bench to `bench/run.ts`, or prints them if it runs alone. */
export function report(figures: readonly Figure[]): void {
  if (process.send) process.send({ figures });
  else for (const figure of figures) console.log(figure);
}
