const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";

/** The thread's module as it is here. A registry of somebody else's goes with it: both must load one `WaybillError`. */
export const plainThread = new URL(`./writer-thread.${extension}`, import.meta.url).href;

/**
 * The code of the writer thread, as URLs of modules. Each opening of a store starts a thread that loads them anew, so in
 * the package both are bundled (105 ms a start instead of 400 with 300 small modules), and tests do the same with the
 * sources.
 */
export const writerFiles = {
  thread: plainThread,
  /** The module whose export `commands` is the registry of all commands. */
  commands: new URL(`../../gateway/commands.${extension}`, import.meta.url).href,
};
