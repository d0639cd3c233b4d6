import { test, type TestContext } from "vitest";
import { type RequirementId, requirements } from "./requirements.ts";

/** More than that and a scenario proves nothing in particular. */
export const mostIds = 5;

/**
 * A test that proves requirements. Its title begins with the ids, as in `ADDR-1 ADDR-8: text`. The ids are written
 * as literals, because coverage.test.ts reads them out of the source.
 *
 * @param timeoutMs How long it may take, where the usual limit of its kind of test is too short.
 */
export function scenario(
  ids: readonly RequirementId[],
  name: string,
  run: (context: TestContext) => Promise<void> | void,
  timeoutMs?: number,
): void {
  test(scenarioTitle(ids, name), { timeout: timeoutMs }, run);
}

/** The title of a scenario. Throws on an id that is unknown or named twice, on none and on too many. */
export function scenarioTitle(ids: readonly string[], name: string): string {
  const unknown = ids.filter((id) => !requirements.some((requirement) => requirement.id === id));
  if (unknown.length > 0) throw new Error(`The scenario "${name}" cites unknown ids: ${unknown.join(", ")}.`);
  if (ids.length === 0 || ids.length > mostIds) {
    throw new Error(`The scenario "${name}" cites ${ids.length} ids; it may cite 1 to ${mostIds}.`);
  }
  if (new Set(ids).size < ids.length) throw new Error(`The scenario "${name}" cites an id twice.`);
  return `${ids.join(" ")}: ${name}`;
}
