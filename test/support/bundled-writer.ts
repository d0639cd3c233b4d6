/** Lets stores that are opened here start their writer from the bundle that `build-writer.ts` made, if it did. */
import { pathToFileURL } from "node:url";
import { writerFiles } from "../../src/db/sqlite/writer-files.ts";

export const bundledWriter = "WAYBILL_TEST_WRITER";

const folder = process.env[bundledWriter];
if (folder) {
  writerFiles.thread = pathToFileURL(`${folder}/db/sqlite/writer-thread.js`).href;
  writerFiles.commands = pathToFileURL(`${folder}/gateway/commands.js`).href;
}
