/** What a check found: `ok`, `warn` (it works, and something should be known) or `fail` (it would not start or work). */
export interface Finding {
  check: string;
  result: "ok" | "warn" | "fail";
  text: string;
  /** What to do about it; null where nothing is to be done. */
  todo: string | null;
}

export function ok(check: string, text: string): Finding {
  return { check, result: "ok", text, todo: null };
}

export function warn(check: string, text: string, todo: string): Finding {
  return { check, result: "warn", text, todo };
}

export function fail(check: string, text: string, todo: string): Finding {
  return { check, result: "fail", text, todo };
}
