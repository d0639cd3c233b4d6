/**
 * A stateful Slack on loopback: the package `emulate`, in process, behind one server of ours. People post with the
 * official client and tokens of their own; what the emulator then sends is signed by it and handed to the gateway.
 *
 * What it lacks is added here, and nothing else: faults of the way to the API (`faults.ts`), a platform's retries and
 * mention twins (`redeliver`, `twin`), `channel_type`, and threads that are gone.
 */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Store } from "@emulators/core";
import { createEmulator, defineEmulator } from "emulate";

export interface EmulatedMessage {
  id: number;
  ts: string;
  channel_id: string;
  user: string;
  text: string;
  thread_ts?: string;
  metadata?: { event_type: string; event_payload: Record<string, unknown> };
}

export interface EmulatedChannel {
  id: number;
  channel_id: string;
  name: string;
  is_archived: boolean;
  is_private: boolean;
  is_im: boolean;
  is_mpim: boolean;
  members: string[];
}

interface Table<T> {
  all(): T[];
  insert(row: Record<string, unknown>): T;
  update(id: number, row: Record<string, unknown>): T;
  delete(id: number): boolean;
  findOneBy(field: string, value: string): T | undefined;
}

export interface SlackTables {
  messages: Table<EmulatedMessage>;
  channels: Table<EmulatedChannel>;
  users: Table<{ id: number; user_id: string }>;
  tokens: Table<{ id: number; token: string }>;
  teams: Table<{ id: number; team_id: string }>;
}

interface SlackModule {
  slackPlugin: {
    register(
      app: unknown,
      store: Store,
      webhooks: unknown,
      baseUrl: string,
      tokens: Map<string, unknown>,
    ): void;
    seed(store: Store, baseUrl: string): void;
  };
  seedFromConfig(store: Store, baseUrl: string, seed: Record<string, unknown>): void;
  getSlackStore(store: Store): SlackTables;
}

/** The package exports its Slack under no name of its own, so the file that has it is looked for. */
async function findSlack(): Promise<SlackModule> {
  const folder = path.resolve(import.meta.dirname, "../../../node_modules/emulate/dist");
  for (const name of await readdir(folder)) {
    if (!/^dist-.*\.js$/.test(name)) continue;
    const file = path.join(folder, name);
    if (!(await readFile(file, "utf8")).includes("slackPlugin")) continue;
    return (await import(pathToFileURL(file).href)) as SlackModule;
  }
  throw new Error(
    "No file of the package emulate exports slackPlugin; look for it in node_modules/emulate/dist.",
  );
}

/** The emulator, without a socket: its API through `fetch`, its events to `eventsUrl`. */
export async function startEmulator(options: {
  baseUrl: string;
  eventsUrl: string;
  signingSecret: string;
  team: string;
}): Promise<{ tables: SlackTables; fetch(request: Request): Promise<Response>; close(): Promise<void> }> {
  const { baseUrl, eventsUrl, signingSecret, team } = options;
  const slack = await findSlack();
  const store = new Store();
  const definition = defineEmulator({
    name: "slack",
    state: () => ({}),
    setup(context) {
      const { app, webhooks } = context;
      slack.slackPlugin.register(app, store, webhooks, baseUrl, new Map());
      slack.slackPlugin.seed(store, baseUrl);
      slack.seedFromConfig(store, baseUrl, { signing_secret: signingSecret });
      webhooks.register({ url: eventsUrl, events: ["*"], active: true, owner: "slack" });
    },
  });
  const running = await createEmulator({ service: definition, listen: false, baseUrl });
  const tables = slack.getSlackStore(store);
  const [first] = tables.teams.all();
  if (first) tables.teams.update(first.id, { team_id: team });
  return {
    tables,
    fetch: (request) => running.fetch(request),
    close: () => running.close(),
  };
}
