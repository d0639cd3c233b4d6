import { aside, atMost, report } from "./support/figures.ts";
import { runStreams } from "./support/streams.ts";

/** 5,000 open SSE readers, ten on each of 500 live runs that emit 2 tokens a second: memory of the gateway's process. */
const { result, rss } = await runStreams({ streams: 500, tokens: 20, everyMs: 500, jobs: 0 }, 10);
report([
  atMost("memory with 5,000 SSE readers and 500 live runs", rss / 1e6, 500, "MB"),
  aside("tokens received (100,000 were due)", result.received, "tokens"),
  aside("token written to token received, p99", result.delay.p99, "ms"),
]);
process.exit(0);
