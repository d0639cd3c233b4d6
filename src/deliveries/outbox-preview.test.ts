import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OutboxBench } from "../../test/support/outbox-bench.ts";
import { eachStore } from "../../test/support/stores.ts";
import type { SendOutcome } from "./sender.ts";

const unclear: SendOutcome = { kind: "unclear", reason: "no answer" };

eachStore((store) => {
  let bench: OutboxBench;
  beforeEach(async () => {
    bench = await OutboxBench.open(store);
  });
  afterEach(() => bench.close());

  describe("a post that is finished in place", () => {
    test("is one post, edited", async () => {
      const id = await bench.layPreview();
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      expect(bench.platform.texts).toEqual(["working"]);
      expect((await bench.delivery(id)).state).toBe("pending");
      await bench.finish(id, "the answer|and more");
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["the answer", "and more"]);
      expect(bench.platform.asked).toEqual(["create working", "edit the answer", "create and more"]);
      expect((await bench.delivery(id)).receipts).toEqual(["post-1", "post-2"]);
    });

    test("whose preview was refused still brings the answer, and the preview is not sent by hand", async () => {
      bench.platform.thenSend({ kind: "refused", reason: "no" });
      const id = await bench.layPreview();
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilState(id, "dead");
      await bench.finish(id, "the answer");
      outbox.wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["the answer"]);
      expect((await bench.delivery(id)).reason).toBeNull();
      await expect(bench.retryByHand(id)).rejects.toMatchObject({ code: "delivery_not_retryable" });
    });

    async function previewOfUnknownFate(): Promise<{ id: string; wake: () => void }> {
      const { platform } = bench;
      platform.thenSend((op) => {
        platform.post(op);
        return unclear;
      });
      platform.thenLook({ kind: "unknown", reason: "cannot look now" });
      const id = await bench.layPreview();
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      await bench.pass(1_000);
      await bench.untilState(id, "unknown");
      return { id, wake: () => outbox.wake() };
    }

    test("whose preview is unknown is looked for once more, and edited if it is there", async () => {
      const { id, wake } = await previewOfUnknownFate();
      await bench.finish(id, "the answer");
      wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["the answer"]);
      expect(bench.platform.asked.at(-1)).toBe("edit the answer");
    });

    test("whose preview stays unknown does not lose its answer", async () => {
      const { id, wake } = await previewOfUnknownFate();
      bench.platform.thenLook({ kind: "unknown", reason: "cannot look" });
      await bench.finish(id, "the answer");
      wake();
      await bench.untilState(id, "delivered");
      expect(bench.platform.texts).toEqual(["working", "the answer"]);
      expect((await bench.delivery(id)).receipts).toEqual(["post-2"]);
    });

    test("that is not to be answered is taken away again, and says so", async () => {
      const id = await bench.layPreview();
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      await bench.takeAway(id);
      outbox.wake();
      await bench.untilState(id, "withdrawn");
      expect(bench.platform.asked).toEqual(["create working", "delete -"]);
      expect(bench.platform.posts).toEqual([]);
      expect((await bench.delivery(id)).settled_at).not.toBeNull();
    });

    test("that is taken away before it went out is never shown", async () => {
      const id = await bench.layPreview();
      await bench.takeAway(id);
      bench.outbox().wake();
      await bench.untilState(id, "withdrawn");
      expect(bench.platform.asked).toEqual([]);
    });

    test("that cannot be taken away for certain is unknown", async () => {
      const { id, wake } = await previewOfUnknownFate();
      bench.platform.thenLook({ kind: "unknown", reason: "cannot look" });
      await bench.takeAway(id);
      wake();
      await bench.until(async () => (await bench.ops(id)).every((op) => op.state === "unknown"));
      expect((await bench.delivery(id)).state).toBe("unknown");
    });

    test("whose place was closed meanwhile is blocked, not pending for ever", async () => {
      const id = await bench.layPreview();
      const outbox = bench.outbox();
      outbox.wake();
      await bench.untilSettled(1);
      const more = {
        id,
        preview: true,
        mode: "blocked",
        reason: "closed",
        kind: "final",
        run: "run_1",
      } as const;
      await bench.lay(bench.plan("the answer", "a", more));
      expect(await bench.delivery(id)).toMatchObject({ state: "blocked", reason: "closed" });
    });
  });
});
