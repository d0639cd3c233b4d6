import { aside, atMost, report } from "./support/figures.ts";
import { runStreams } from "./support/streams.ts";

/**
 * 300 streams of 40 tokens a second each and 50 jobs that report progress ten times a second, read over SSE in another
 * process: the gap between two tokens of a stream as its reader sees it. An undisturbed gap is 25 ms.
 */
const { result } = await runStreams({ streams: 300, tokens: 400, everyMs: 25, jobs: 50 });
report([
  atMost("gap between tokens under 300 streams and 50 jobs, p99", result.gap.p99, 50, "ms"),
  aside("the same gap, p50", result.gap.p50, "ms"),
  aside("token written to token received, p99", result.delay.p99, "ms"),
  aside("tokens received (120,000 were written)", result.received, "tokens"),
]);
process.exit(0);
