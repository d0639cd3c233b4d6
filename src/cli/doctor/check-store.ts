import type { ServerSettings } from "../../gateway/environment.ts";
import { inspectStore, type StoreState } from "../../gateway/inspect-store.ts";
import { readServed } from "../../gateway/served-file.ts";
import { asWaybillError } from "../../kernel/errors.ts";
import { fail, ok, warn, type Finding } from "./check.ts";

/** The store can be reached, and its schema is one that this version can use. */
export async function checkStore(settings: ServerSettings): Promise<Finding[]> {
  try {
    const store = await inspectStore(settings);
    if (store === null) return [ok("store", "none yet: it is made at the first start")];
    const schema =
      store.pending > 0
        ? `${store.pending} step${store.pending === 1 ? "" : "s"} will be applied at the next start`
        : `up to date (step ${store.step})`;
    return [useOf(store, settings), ok("schema", schema)];
  } catch (thrown) {
    const { code, message } = asWaybillError(thrown);
    return [
      fail(
        "store",
        message,
        todos[code] ?? "Check that the disk can be read; restore a backup if it is damaged.",
      ),
    ];
  }
}

const todos: Readonly<Record<string, string>> = {
  missing_package: "Install it.",
  schema_too_new: "Use the newer version of Waybill, or a backup from before.",
  config_invalid: "Correct the variable.",
  store_unavailable: "Check that it runs and that WAYBILL_DATABASE_URL is right.",
};

/** One process at a time may use a SQLite file; another start in this folder would be refused. */
function useOf({ dialect, place, nodes }: StoreState, settings: ServerSettings): Finding {
  const served = readServed(settings.dataDir);
  if (nodes.length === 0) return ok("store", place);
  const pids = nodes.map(({ pid, here }) => `${pid}${here ? "" : " (elsewhere)"}`).join(", ");
  const text = `${place}, in use by process ${pids}`;
  if (dialect === "postgres" || nodes.some(({ pid }) => pid === served?.pid)) return ok("store", text);
  return warn(
    "store",
    text,
    "If that process is gone, nothing is to be done; else it must stop before waybill start.",
  );
}
