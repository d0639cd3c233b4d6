import { manualClock } from "../../src/kernel/clock.ts";
import { memoryStreams } from "../../src/streams/memory/memory-streams.ts";
import { streamStoreContract } from "./streams.contract.ts";

streamStoreContract("memory", () => memoryStreams({ clock: manualClock() }));
