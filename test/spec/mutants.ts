import { addressesMutants } from "./mutants/addresses.ts";
import { consoleMutants } from "./mutants/console.ts";
import { furtherMutants } from "./mutants/further.ts";
import { historiesMutants } from "./mutants/histories.ts";
import { ledgerMutants } from "./mutants/ledger.ts";
import { schedulesMutants } from "./mutants/schedules.ts";
import { processMutants } from "./mutants/process.ts";
import { surfaceMutants } from "./mutants/surface.ts";
import { toolsMutants } from "./mutants/tools.ts";
import { threadsMutants } from "./mutants/threads.ts";
import type { RequirementId } from "./requirements.ts";

/**
 * A small change of the source that must turn a scenario red. `npm run mutants` applies each in a copy of the
 * checkout, runs its scenario and reports those that survive; none may.
 */
export interface Mutant {
  /** Kebab-case and unique: `npm run mutants -- <name>`. */
  readonly name: string;
  /** The requirements whose proof it tests. */
  readonly ids: readonly RequirementId[];
  /** The file to change, from the root of the checkout, and a text that stands in it exactly once. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The scenario that must fail: its file, and a regular expression that its full title matches. */
  readonly scenario: { readonly file: string; readonly name: string };
}

export const mutants: readonly Mutant[] = [
  ...addressesMutants,
  ...ledgerMutants,
  ...surfaceMutants,
  ...furtherMutants,
  ...toolsMutants,
  ...historiesMutants,
  ...threadsMutants,
  ...schedulesMutants,
  ...processMutants,
  ...consoleMutants,
];
