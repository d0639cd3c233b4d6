import { test } from "vitest";
import { tellStories } from "../../../test/support/process-agents/stories.ts";

test("no interleaving of conversations, crashes and cancels mixes what turns are told: 100 stories", () =>
  tellStories(100, 7, 60));
