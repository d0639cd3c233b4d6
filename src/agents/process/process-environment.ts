/** What a program needs to find itself and its language; nothing of these is a secret. */
const always = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "SystemRoot", "PATHEXT"];

/**
 * The environment of a process, fixed when it starts: the variables named, as far as they are set, and `own` (the
 * grant of this process's life). Nothing of a turn is in it, because the process outlives the turn.
 */
export function processEnvironment(
  names: readonly string[],
  from: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [...always, ...names]) {
    const value = from[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...own };
}
