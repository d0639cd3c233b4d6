/**
 * What looks like a secret in a text that is not ours (an exception's message, a provider's answer): keys and tokens of
 * the usual shapes, bearer headers, passwords in URLs. A net below the rule that secrets are not put into texts at all.
 */
const shapes: readonly [RegExp, string][] = [
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}/g, "[secret]"],
  [/\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{8,}/g, "[secret]"],
  [/\b\d{6,12}:[A-Za-z0-9_-]{30,}/g, "[secret]"], // bot tokens of Telegram
  [/\bwbg_[A-Za-z0-9_-]{8,}/g, "[secret]"],
  [/\bgh[opsur]_[A-Za-z0-9]{16,}/g, "[secret]"],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, "$1 [secret]"],
  [/\b((?:api[_-]?key|token|secret|password|passwd)["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}/gi, "$1[secret]"],
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s@/]+@/gi, "$1[secret]@"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, "[secret]"],
];

/** The text without what looks like a secret, cut at `most` characters. */
export function redact(text: string, most = 500): string {
  let out = text.slice(0, most * 4);
  for (const [shape, instead] of shapes) out = out.replace(shape, instead);
  return out.length > most ? `${out.slice(0, most)}…` : out;
}
