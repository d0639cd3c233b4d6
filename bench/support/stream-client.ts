import { get } from "node:http";
import { quantile } from "./figures.ts";

/**
 * Reads streams over SSE, as a process of its own: counts tokens, and measures the gaps between two of a stream and the
 * time from a token's writing to its arrival. Driven by its parent: `read` with the URLs.
 */
interface ReadOrder {
  kind: "read";
  urls: string[];
  /** Tokens that each reader waits for; 0: only connects and counts. */
  tokens: number;
}

const delta = /\d{13,}\.\d{3} /g;

async function read(order: ReadOrder): Promise<void> {
  const gaps: number[] = [];
  const delays: number[] = [];
  let received = 0;
  let connected = 0;
  let first = 0;
  let finished = 0;
  const finish = (): void => {
    const spent = performance.now() - first;
    process.send?.({
      kind: "result",
      received,
      rate: (received / spent) * 1_000,
      gap: {
        p50: quantile(gaps, 0.5),
        p99: quantile(gaps, 0.99),
        most: gaps.reduce((a, b) => Math.max(a, b), 0),
      },
      delay: { p50: quantile(delays, 0.5), p99: quantile(delays, 0.99) },
    });
  };
  for (const url of order.urls) {
    const request = get(url, { agent: false, headers: { accept: "text/event-stream" } }, (response) => {
      connected += 1;
      if (connected === order.urls.length) process.send?.({ kind: "connected" });
      let seen = 0;
      let last = 0;
      let done = false;
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const now = performance.now();
        const text = rest + chunk;
        rest = "";
        for (const token of text.matchAll(delta)) {
          if (first === 0) first = now;
          received += 1;
          seen += 1;
          if (last > 0) gaps.push(now - last);
          last = now;
          if (received % 16 === 0) delays.push(performance.timeOrigin + now - Number(token[0]));
        }
        // A token that was cut by the end of a chunk begins in its last 20 characters.
        rest = text.slice(-20).match(/\d[\d.]*$/)?.[0] ?? "";
        if (seen >= order.tokens && !done) {
          done = true;
          finished += 1;
          if (finished === order.urls.length) finish();
        }
      });
      response.on("error", () => {});
    });
    request.on("error", (error) => process.send?.({ kind: "error", message: error.message }));
  }
}

process.on("message", (message: ReadOrder) => {
  if (message.kind === "read") void read(message);
});
process.send?.({ kind: "ready" });
