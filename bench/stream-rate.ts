import { atLeast, atMost, median, report } from "./support/figures.ts";
import { runStreams } from "./support/streams.ts";

/** 200 streams at once as fast as they go, in process to SSE readers in another process. */
const rates: number[] = [];
let difference = 0;
for (let round = 0; round < 3; round += 1) {
  const { result } = await runStreams({ streams: 200, tokens: 3_000, everyMs: 0, jobs: 0 });
  difference += Math.abs(result.received - 600_000);
  rates.push(result.rate);
}
report([
  atLeast(
    "tokens a second, 200 streams to SSE readers in another process",
    median(rates),
    50_000,
    "tokens/s",
  ),
  atMost("tokens received more or less than the 1,800,000 written", difference, 0, "tokens"),
]);
process.exit(0);
