/** What every store keeps: commands are atomic and in order, and reads see them. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../src/db/database.ts";
import { eachStore, type FreshStore } from "../support/stores.ts";
import { note, readNotes } from "./database-commands.ts";
import { openReader, openStore as open } from "./database-open.ts";

eachStore((store) => {
  let fresh: FreshStore;
  let db: Database;
  const notes = async (): Promise<string[]> => (await db.read(readNotes, {})).map((row) => row.slot);

  beforeEach(async () => {
    fresh = await store.fresh();
    db = await open(fresh.databaseUrl);
  });
  afterEach(async () => {
    await db.close();
    await fresh.dispose();
  });

  describe("a command", () => {
    test("that throws leaves nothing and is rejected with what it threw", async () => {
      const refused = db.do(note, { name: "a", refuse: true });
      await expect(refused).rejects.toMatchObject({ code: "no_destination", details: { name: "a" } });
      expect(await notes()).toEqual([]);
    });

    test("that breaks is an internal error and leaves nothing", async () => {
      await expect(db.do(note, { name: "a", defect: true })).rejects.toMatchObject({ code: "internal" });
      expect(await notes()).toEqual([]);
    });

    test("that breaks a rule of the store is an internal error and leaves nothing", async () => {
      await db.do(note, { name: "a" });
      await expect(db.do(note, { name: "a", text: "again" })).rejects.toMatchObject({ code: "internal" });
      expect(await db.read(readNotes, {})).toEqual([{ slot: "a", address: "" }]);
    });

    test("that fails does not undo its neighbours of the same moment", async () => {
      const names = ["a", "b", "c", "d", "e"];
      const settled = await Promise.allSettled(
        names.map((name) => db.do(note, { name, refuse: name === "b", defect: name === "d" })),
      );
      expect(settled.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      // On Postgres each is a transaction of its own, and they may end in any order.
      expect((await notes()).toSorted()).toEqual(["a", "c", "e"]);
    });

    test("sees what it wrote itself", async () => {
      expect(await db.do(note, { name: "a" })).toEqual({ notes: 1 });
      expect(await db.do(note, { name: "b" })).toEqual({ notes: 2 });
    });

    test("after close is refused, and so is a read", async () => {
      await db.close();
      await expect(db.do(note, { name: "late" })).rejects.toMatchObject({ code: "shutting_down" });
      await expect(db.read(readNotes, {})).rejects.toMatchObject({ code: "shutting_down" });
    });

    test("given before close is done", async () => {
      const done = db.do(note, { name: "a" });
      await db.close();
      await expect(done).resolves.toEqual({ notes: 1 });
      db = await open(fresh.databaseUrl);
      expect(await notes()).toEqual(["a"]);
    });
  });

  describe("a read", () => {
    test("sees everything whose command has resolved, however many are under way", async () => {
      const missing: string[] = [];
      await Promise.all(
        Array.from({ length: 60 }, async (_, i) => {
          const name = `n${i}`;
          await db.do(note, { name });
          if (!(await notes()).includes(name)) missing.push(name);
        }),
      );
      expect(missing).toEqual([]);
      expect(await notes()).toHaveLength(60);
    });

    test("through a second, read-only opening sees the same and can write nothing", async () => {
      await db.do(note, { name: "a" });
      const reader = await openReader(fresh.databaseUrl);
      try {
        expect(await reader.read(readNotes, {})).toEqual([{ slot: "a", address: "" }]);
        await expect(reader.do(note, { name: "b" })).rejects.toMatchObject({ code: "no_server" });
        expect(await notes()).toEqual(["a"]);
      } finally {
        await reader.close();
      }
    });
  });

  test("ping answers while the store is there", async () => {
    await expect(db.ping()).resolves.toBeUndefined();
  });
});

eachStore((store) => {
  test("a store that nobody has made is not found when it is opened for reading", async () => {
    const fresh = await store.fresh();
    try {
      await expect(openReader(fresh.databaseUrl)).rejects.toMatchObject({ code: "not_found" });
    } finally {
      await fresh.dispose();
    }
  });
});
