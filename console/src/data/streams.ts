import { useCallback, useSyncExternalStore } from "react";
import { emptyTree, reduceEvent, type StreamView, type Tree } from "../../../src/streams/reduce.ts";
import { access, ApiError, request } from "./api.ts";
import { withSlot } from "./slots.ts";
import { readEvents } from "./sse.ts";
import { backoff, pause, untilHidden, untilVisible } from "./waiting.ts";

type StreamEvent = Parameters<typeof reduceEvent>[1];

/**
 * Streams of runs, followed while somebody looks. A stream is read once in a window however often it is shown, each
 * event is applied once (by its seq), and a reader that lost its connection goes on after the last batch it had.
 */
export interface Followed {
  tree: Tree;
  /** `gone`: the server does not keep it any more; what was committed is in the messages. */
  state: "reading" | "ended" | "gone";
}

interface Follower {
  followed: Followed;
  offset: string;
  users: number;
  stop: AbortController | null;
  hearers: Set<() => void>;
}

const followers = new Map<string, Follower>();
/** Streams that nobody looks at any more are kept for whoever scrolls back, up to this number. */
const keptMost = 60;

function followerOf(stream: string): Follower {
  let follower = followers.get(stream);
  if (!follower) {
    follower = {
      followed: { tree: emptyTree(), state: "reading" },
      offset: "-1",
      users: 0,
      stop: null,
      hearers: new Set(),
    };
    followers.set(stream, follower);
    forgetIdle();
  }
  return follower;
}

function forgetIdle(): void {
  for (const [stream, follower] of followers) {
    if (followers.size <= keptMost) return;
    if (follower.users === 0 && follower.hearers.size === 0) followers.delete(stream);
  }
}

function enter(stream: string, hear: () => void): () => void {
  const follower = followerOf(stream);
  followers.set(stream, follower);
  follower.hearers.add(hear);
  follower.users += 1;
  if (follower.users === 1 && follower.followed.state === "reading") {
    follower.stop = new AbortController();
    void follow(stream, follower, follower.stop.signal);
  }
  return () => {
    follower.hearers.delete(hear);
    follower.users -= 1;
    if (follower.users === 0) follower.stop?.abort();
  };
}

/** What a stream has shown so far; null follows nothing. */
export function useStream(stream: string | null): Followed | null {
  const subscribe = useCallback(
    (hear: () => void) => (stream === null ? () => {} : enter(stream, hear)),
    [stream],
  );
  return useSyncExternalStore(subscribe, () => (stream === null ? null : followerOf(stream).followed));
}

export function viewOf(followed: Followed | null, stream: string): StreamView | null {
  return followed && Object.hasOwn(followed.tree, stream) ? (followed.tree[stream] ?? null) : null;
}

const dirty = new Set<Follower>();
let painting = false;
/** How long showing what is new took the last time, in milliseconds. */
let cost = 0;

/**
 * All streams are shown anew together, in at most a quarter of the time: the longer it takes (many streams, long texts),
 * the longer the pause before the next time, so that typing and scrolling stay quick.
 */
function changed(follower: Follower): void {
  dirty.add(follower);
  if (painting) return;
  painting = true;
  setTimeout(() => requestAnimationFrame(paint), Math.min(400, cost * 3));
}

function paint(): void {
  painting = false;
  const began = performance.now();
  const now = [...dirty];
  dirty.clear();
  for (const { hearers } of now) for (const hear of hearers) hear();
  // React renders what it heard in a microtask of its own, which is before this one.
  queueMicrotask(() => {
    cost = performance.now() - began;
  });
}

function apply(follower: Follower, events: readonly StreamEvent[]): void {
  const tree = events.reduce(reduceEvent, follower.followed.tree);
  if (tree === follower.followed.tree) return;
  follower.followed = { ...follower.followed, tree };
  changed(follower);
}

function settle(follower: Follower, state: "ended" | "gone"): void {
  follower.followed = { ...follower.followed, state };
  changed(follower);
}

async function follow(stream: string, follower: Follower, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted && follower.followed.state === "reading") {
    await untilVisible(signal);
    if (signal.aborted) return;
    const looked = untilHidden(signal);
    try {
      const held = await withSlot(() => readLive(stream, follower, looked.signal));
      if (held === null) await readOnce(stream, follower, looked.signal);
      failures = 0;
      if (follower.followed.state === "reading") await pause(pollMs(), looked.signal);
    } catch (error) {
      if (!looked.signal.aborted) await recover(follower, error, failures, signal);
      failures += 1;
    } finally {
      looked.stop();
    }
  }
}

function pollMs(): number {
  const reading = [...followers.values()].filter(
    ({ users, followed }) => users > 0 && followed.state === "reading",
  );
  return Math.max(250, reading.length * 50);
}

async function readLive(stream: string, follower: Follower, signal: AbortSignal): Promise<void> {
  await readEvents(`/v1/stream/${stream}`, {
    query: { live: "sse", offset: follower.offset },
    signal,
    onEvent: ({ event, data }) => {
      if (event === "data") apply(follower, JSON.parse(data) as StreamEvent[]);
      else if (event === "control") {
        const control = JSON.parse(data) as { streamNextOffset: string; streamClosed?: boolean };
        follower.offset = control.streamNextOffset;
        if (control.streamClosed === true) settle(follower, "ended");
      }
    },
  });
}

async function readOnce(stream: string, follower: Follower, signal: AbortSignal): Promise<void> {
  const response = await request(`/v1/stream/${stream}`, { query: { offset: follower.offset }, signal });
  apply(follower, (await response.json()) as StreamEvent[]);
  follower.offset = response.headers.get("stream-next-offset") ?? follower.offset;
  const upToDate = response.headers.get("stream-up-to-date") !== null;
  if (upToDate && response.headers.get("stream-closed") !== null) settle(follower, "ended");
}

async function recover(
  follower: Follower,
  error: unknown,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  if (error instanceof ApiError) {
    if (error.status === 404) return settle(follower, "gone");
    if (error.code === "invalid_offset") {
      // The log that we read is no more: the server was started anew.
      follower.offset = "-1";
      follower.followed = { tree: emptyTree(), state: "reading" };
    }
    if (error.status === 401) return untilToken(signal);
  }
  await pause(backoff(failures), signal);
}

/** Resolves when another token was given, or the signal aborts. */
export function untilToken(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = access.subscribe(() => {
      if (!access.refused) done();
    });
    function done(): void {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
    if (signal.aborted || !access.refused) done();
  });
}
