/**
 * Addresses as the console needs them: `channel:account/conversation[/thread]`, components percent-encoded. The server
 * is their judge; here they are only taken apart for showing, and joined with ids that need no encoding.
 */
export interface PlaceParts {
  channel: string;
  account: string;
  conversation: string;
  thread: string | null;
}

export function placeParts(address: string): PlaceParts | null {
  const match = /^([a-z][a-z0-9-]*):([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(address);
  if (!match) return null;
  try {
    const [channel = "", account = "", conversation = "", thread] = match
      .slice(1)
      .map((part: string | undefined) => (part === undefined ? undefined : decodeURIComponent(part)));
    return { channel, account, conversation, thread: thread ?? null };
  } catch {
    return null;
  }
}

/** The conversation of a thread; of a conversation, itself. */
export function rootOf(address: string): string {
  return address.split("/", 2).join("/");
}

/** The encoded thread of an address, or null. */
export function threadOf(address: string): string | null {
  return address.split("/", 3)[2] ?? null;
}

/** @param thread as it stands in an address */
export function inThread(root: string, thread: string): string {
  return `${root}/${thread}`;
}

/** Where a place is shown: `/chat/web:main/general?thread=t1`. */
export function hrefOf(address: string): string {
  const path = rootOf(address)
    .split("/")
    .map((part) => encodeURIComponent(part).replaceAll("%3A", ":"))
    .join("/");
  const thread = threadOf(address);
  return `/chat/${path}${thread === null ? "" : `?thread=${encodeURIComponent(thread)}`}`;
}

/** The address of a conversation in a path as `hrefOf` writes it, or null. */
export function addressOfPath(pathname: string): string | null {
  const rest = /^\/chat\/(.+)$/.exec(pathname)?.[1];
  if (rest === undefined) return null;
  try {
    const address = rest.split("/").map(decodeURIComponent).join("/");
    return placeParts(address)?.thread === null ? address : null;
  } catch {
    return null;
  }
}
