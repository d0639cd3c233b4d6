/** Before the tests of a project: the writer thread's code in one piece, since nearly every test starts one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "../../scripts/support/paths.ts";
import { bundleWriter } from "../../scripts/support/bundle-writer.ts";
import { bundledWriter } from "./bundled-writer.ts";

export default async function setup(): Promise<() => void> {
  const folder = mkdtempSync(path.join(tmpdir(), "waybill-writer-"));
  await bundleWriter(path.join(root, "src"), "ts", folder);
  process.env[bundledWriter] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
