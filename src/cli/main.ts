import { buildProgram } from "./program.ts";
import { fail } from "./output.ts";

/** The command line tool. The launcher imports this module; the process that it runs in is the server itself. */
try {
  await buildProgram().parseAsync(process.argv);
} catch (thrown) {
  fail(thrown);
}
