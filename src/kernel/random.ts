/** Chance as a parameter: from 0 up to 1. Only for pauses between attempts; never for ids or keys. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
