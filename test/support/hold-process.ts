/** A process that has a machine lock until it is killed. */
import { machineLock } from "../../src/gateway/machine-lock.ts";

const lock = await machineLock(process.argv[2] ?? "");
process.on("disconnect", () => process.exit(0));
process.send?.({ held: lock !== null });
