import { test } from "vitest";
import { tellStories } from "../../../test/support/process-agents/stories.ts";

test("no interleaving of conversations, crashes and cancels mixes what turns are told", () =>
  tellStories(10, 20_260_101, 30));
