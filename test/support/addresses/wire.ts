/** What the gateway of the address histories and the test tell each other. */

/** What a message asks its agent to do, in order; written as JSON in the text, so that a restart forgets nothing. */
export interface Plan {
  /** Unique: every text that comes of this message holds it. */
  nonce: string;
  acts: Act[];
  /** Who holds the token for tools: several runs have one, as the turns of a pooled process do. */
  holder: string;
  /** It waits before its answer until the test opens the gate named by the nonce. */
  hold: boolean;
}

export type Act =
  /** `ctx.say`: another message in the turn's own place. */
  | { do: "say" }
  /** `ctx.send` without a target, as an agent does that was refused once. */
  | { do: "send-nowhere" }
  /** `ctx.send` to a place; `expected` says what the rules make of it. */
  | { do: "send"; to: string; expected: "sent" | "refused" };

export interface ServerSettings {
  databaseUrl: string;
  dataDir: string;
  /** The platform: a URL and secret for each account of the webhook channel. */
  platform: { url: string; secret: string };
  accounts: string[];
  memory: "conversation" | "shared";
  crossPost: { from: string; to: string }[];
}

export type FromServer =
  | { kind: "ready"; url: string }
  /** A run has done its acts; it waits, or answers now. `refusals`: what its acts were refused with. */
  | { kind: "acted"; nonce: string; run: string; echo: string; token: string; refusals: string[] }
  | { kind: "ended"; run: string; state: string };

export interface ToServer {
  open: string;
}
