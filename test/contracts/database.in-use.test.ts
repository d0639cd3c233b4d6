/** A second process on one SQLite file would take the first one's runs for lost: it is refused, and told by whom. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CrashWorld } from "../support/crash-gateway.ts";
import { eachStore } from "../support/stores.ts";

eachStore((store) => {
  let world: CrashWorld;
  beforeEach(async () => {
    world = await CrashWorld.make(store, null);
  });
  afterEach(() => world.dispose());

  if (store.name === "sqlite") {
    test("a second process is refused while the first lives, and starts at once when that was killed", async () => {
      const first = await world.start();
      const second = await world.start();
      await second.exited;
      expect(second.refused).toMatchObject({ code: "data_in_use" });
      expect(second.refused?.message).toContain(`process ${first.pid} on this machine`);
      expect(await world.say(first, { conversation: "ann", id: "1", text: "still there" })).not.toBeNull();
      await first.kill();
      const third = await world.start();
      expect(third.refused).toBeNull();
      expect(await world.say(third, { conversation: "ann", id: "2", text: "here too" })).not.toBeNull();
    });
  } else {
    describe("on a server", () => {
      test("a node that was killed is known to be dead when its lease has run out, not before", async () => {
        const first = await world.start();
        await world.say(first, { conversation: "ann", id: "1", text: "wait:never" });
        await first.until(() => first.waiting.has("never"));
        await first.kill();
        const state = async () => {
          const rows = await world.look((k) => k.selectFrom("runs").select("state"));
          return rows.map((row) => row.state);
        };
        const second = await world.start();
        expect(await state()).toEqual(["running"]);
        await second.kill();
        await world.endLeases();
        await world.start();
        expect(await state()).toEqual(["interrupted"]);
      });
    });
  }
});
