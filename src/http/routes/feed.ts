import { z } from "zod";
import { formatAddress, parseAddress } from "../../address/address.ts";
import { listMessages, readLastPostSeq } from "../../deliveries/read-messages.ts";
import type { Locale } from "../../texts/render.ts";
import { localeOf } from "../context.ts";
import type { FeedHint, HttpPorts } from "../ports.ts";
import { route, type Routes } from "../route.ts";
import { sseEvent, type SseServer } from "../sse.ts";
import { toWireMessage } from "../wire.ts";

/** Without any hint the store is looked into this often: a hint may be lost on its way from another node. */
const lookMs = 10_000;
const pageSize = 200;
/** Hints that wait for a slow reader at most; it is told to look for itself when there were more. */
const hintsMost = 1_000;

const seq = z.string().regex(/^\d{1,15}$/, "is a post_seq, such as the id of the last event");

/**
 * A live feed. Of one place: every message as it is committed, each once and in order, resumable by `Last-Event-ID`
 * (its `post_seq`), and hints about runs and deliveries. Of all places: hints only.
 */
export function feedRoutes(routes: Routes, ports: HttpPorts, sse: SseServer): void {
  route(
    routes,
    {
      method: "get",
      path: "/v1/conversations/events",
      summary: "A live feed of one place, or hints of all.",
      query: z.strictObject({
        address: z.string().optional(),
        after: seq.optional(),
        locale: z.string().optional(),
      }),
      answers: { 200: { description: "Server-sent events.", type: "text/event-stream" } },
      errors: ["invalid_address"],
    },
    (c, { query }) => {
      const locale = localeOf(c, ports.locale);
      if (query.address === undefined) return sse.answer(c, (signal) => hintFrames(ports, null, signal));
      const address = formatAddress(parseAddress(query.address));
      const header = c.req.header("last-event-id");
      const last = header !== undefined && seq.safeParse(header).success ? header : query.after;
      const after = last === undefined ? null : Number(last);
      return sse.answer(c, (signal) => placeFrames(ports, address, after, locale, signal));
    },
  );
}

const opening = "retry: 1000\n: connected\n\n";

/** Collects hints until they are taken; `wait` resolves when there is one, when it is time to look, or at the end. */
class HintBox {
  #hints: FeedHint[] = [];
  #wake: (() => void) | null = null;
  #overflown = false;
  readonly #unsubscribe: () => void;
  readonly #ports: HttpPorts;
  readonly #signal: AbortSignal;

  constructor(ports: HttpPorts, address: string | null, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
    this.#unsubscribe = ports.feed.subscribe(address, (hint) => this.#put(hint));
    signal.addEventListener("abort", () => this.close(), { once: true });
  }

  #put(hint: FeedHint): void {
    if (this.#hints.length < hintsMost) this.#hints.push(hint);
    else this.#overflown = true;
    this.#wake?.();
  }

  take(): { hints: FeedHint[]; overflown: boolean } {
    const taken = { hints: this.#hints, overflown: this.#overflown };
    this.#hints = [];
    this.#overflown = false;
    return taken;
  }

  async wait(): Promise<void> {
    if (this.#hints.length > 0 || this.#signal.aborted) return;
    const cancel = this.#ports.clock.after(lookMs, () => this.#wake?.());
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = null;
    cancel();
  }

  close(): void {
    this.#unsubscribe();
    this.#wake?.();
  }
}

async function* hintFrames(
  ports: HttpPorts,
  address: string | null,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const box = new HintBox(ports, address, signal);
  try {
    yield opening;
    while (!signal.aborted) {
      await box.wait();
      const { hints, overflown } = box.take();
      const frame = hints.map(hintFrame).join("");
      if (overflown) yield `${frame}${sseEvent("missed", "{}")}`;
      else if (frame !== "") yield frame;
    }
  } finally {
    box.close();
  }
}

/** Subscribed first, then read: what is committed in between is found by the read or by the hint. */
async function* placeFrames(
  ports: HttpPorts,
  address: string,
  after: number | null,
  locale: Locale,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { db, tenant } = ports;
  const box = new HintBox(ports, address, signal);
  try {
    let last = after ?? (await readLastPostSeq(db, tenant, address));
    // The id is where a reader stands that has had no message yet.
    yield `id: ${last}\n${opening}`;
    let full = true;
    while (!signal.aborted) {
      const { hints } = box.take();
      const messages = await listMessages(db, tenant, address, last, pageSize);
      last = messages.at(-1)?.postSeq ?? last;
      const posts = messages.map((message) =>
        sseEvent("message", JSON.stringify(toWireMessage(message, locale)), message.postSeq),
      );
      // A run's end is told after the message that it was committed with.
      const frame = [...posts, ...hints.filter((hint) => hint.kind !== "posted").map(hintFrame)].join("");
      if (frame !== "") yield frame;
      full = messages.length === pageSize;
      if (!full) await box.wait();
    }
  } finally {
    box.close();
  }
}

function hintFrame(hint: FeedHint): string {
  const { kind, ...data } = hint;
  return sseEvent(kind, JSON.stringify(data));
}
