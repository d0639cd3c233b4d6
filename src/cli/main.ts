import { buildProgram } from "./program.ts";
import { fail } from "./output.ts";

// Whoever read the output has enough (waybill runs list | head -1): there is nothing left to do.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

/** The command line tool. The launcher imports this module; the process that it runs in is the server itself. */
try {
  await buildProgram().parseAsync(process.argv);
} catch (thrown) {
  fail(thrown);
}
