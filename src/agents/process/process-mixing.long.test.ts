import { test } from "vitest";
import { tellStories } from "../../../test/support/process-agents/stories.ts";

test("no interleaving of conversations, crashes and cancels mixes what turns are told: 300 stories", () =>
  tellStories(300, 7, 60));
