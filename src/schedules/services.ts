import type { CrossPostRule } from "../deliveries/choose-destination.ts";
import type { Clock } from "../kernel/clock.ts";
import type { InboxOptions } from "../turns/inbox.ts";

/** What schedules need of a gateway: much of what the inbox needs, since what fires becomes a turn like any other. */
export interface ScheduleServices extends Pick<
  InboxOptions,
  "tenant" | "db" | "ids" | "log" | "locale" | "senders" | "allows" | "agent" | "memory" | "slots" | "caps"
> {
  clock: Clock;
  crossPost: readonly CrossPostRule[];
  /** Told after commits. */
  hear: {
    posted(address: string): void;
    opsAdded(): void;
    runsReady(): void;
    /** A schedule was made or changed: this node and others look when the next one is due. */
    schedulesChanged(): void;
    /** What a schedule says was held, or is held no more; `address` may be empty. */
    held(delivery: string, address: string): void;
  };
}
