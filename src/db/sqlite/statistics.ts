import type { DatabaseSync } from "node:sqlite";

/** Rows that a table is taken to have, and rows of an index that holds only what is still to be done. */
const [MANY, FEW] = [1_000_000, 1_000];
/** Rows that share the first two columns of an index: the tenant and one address, run or delivery. */
const TOGETHER = 20;

/**
 * Tells SQLite's planner how tables fill (sqlite.org/fileformat2.html, "The sqlite_stat1 Table"). Left alone it takes a
 * tenant to have ten rows, and reads a whole table in the order of its key rather than look into an index. Measured
 * statistics would change with what an installation happens to hold, and plans with them; these are the same everywhere.
 */
export function setStatistics(db: DatabaseSync): void {
  db.exec("analyze sqlite_schema"); // Makes the table, if there is none.
  const known = db.prepare("select 1 from sqlite_stat1 limit 1").get();
  if (known) db.exec("delete from sqlite_stat1");
  const insert = db.prepare("insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)");
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all() as {
    name: string;
  }[];
  for (const { name } of tables) {
    if (name.startsWith("sqlite_")) continue;
    const indexes = db.prepare('select name, "unique" as one, partial, origin from pragma_index_list(?)');
    for (const index of indexes.all(name) as unknown as IndexInfo[]) {
      const columns = db.prepare("select name from pragma_index_info(?)").all(index.name);
      // The key of a table that is stored in its order goes by the table's name.
      const key = index.origin === "pk" && isClustered(db, name) ? name : index.name;
      insert.run(name, key, statOf(columns.length, index));
    }
  }
  db.exec("analyze sqlite_schema"); // Reads it.
}

interface IndexInfo {
  name: string;
  one: number;
  partial: number;
  origin: string;
}

function isClustered(db: DatabaseSync, table: string): boolean {
  const row = db.prepare("select wr from pragma_table_list(?)").get(table) as { wr: number } | undefined;
  return row?.wr === 1;
}

/** The number of rows, then how many share the first column, the first two, and so on. */
function statOf(columns: number, { one, partial }: IndexInfo): string {
  const rows = partial === 1 ? FEW : MANY;
  const shared = Array.from({ length: columns }, (_, i) => {
    if (one === 1 && i === columns - 1) return 1;
    return i === 0 ? rows : Math.max(2, Math.round(TOGETHER / i));
  });
  return [rows, ...shared].join(" ");
}
