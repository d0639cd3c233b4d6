import { parseAddress, tryParseAddress } from "../address/address.ts";
import {
  findDeliveriesOfPost,
  findDeliveryOfOp,
  findDeliveryOfPermalink,
  listDeliveries,
  readDelivery,
  type DeliveryRecord,
} from "../deliveries/read-deliveries.ts";
import {
  findPlatformMessages,
  readMessage,
  readPlatformMessage,
  type MessageRecord,
} from "../deliveries/read-messages.ts";
import { WaybillError } from "../kernel/errors.ts";
import { listRuns, readRun, readRunOfStream, type RunRecord } from "../ledger/read-runs.ts";
import { readTurn, type TurnRecord } from "../turns/read-turns.ts";
import type { WireStory } from "./api.ts";
import type { HttpPorts } from "./ports.ts";

/** The story of which an id is a part: what was asked, what ran for it, and what was posted where. */
export interface Story {
  found: WireStory["found"];
  turns: TurnRecord[];
  runs: RunRecord[];
  deliveries: DeliveryRecord[];
  messages: MessageRecord[];
}

/** Runs and deliveries of one story at most; there are seldom more than ten. */
const most = 200;

/** Where a story is entered. */
type Entry = { found: WireStory["found"] } & (
  | { turn: string }
  | { run: RunRecord }
  | { delivery: DeliveryRecord }
  | {
      trace: string;
    }
);

/**
 * Finds the story of any id: run, turn, stream, message, delivery, op or trace, an address with the id of a post
 * (`slack:T1/C1#1700000000.0001`), a platform's link to a post, or a platform's id alone.
 * @throws WaybillError `not_found`
 */
export async function findStory(ports: HttpPorts, asked: string): Promise<Story> {
  const entry = await findEntry(ports, asked);
  if (!entry) {
    throw new WaybillError(
      "not_found",
      `Nothing here has the id ${asked.slice(0, 200)}. Give the id of a run, turn, stream, message or delivery, a link to a post, or an address and a post as in web:main/general#msg_...`,
      { id: asked.slice(0, 200) },
    );
  }
  return gather(ports, entry);
}

async function findEntry(ports: HttpPorts, asked: string): Promise<Entry | null> {
  const { db, tenant } = ports;
  switch (/^[a-z]+(?=_)/.exec(asked)?.[0]) {
    case "turn":
      return (await readTurn(db, tenant, asked)) && { found: "turn", turn: asked };
    case "run":
      return entryOfRun("run", await readRun(db, tenant, asked));
    case "trace": {
      const [first] = await listRuns(db, tenant, { trace: asked, limit: 1 });
      return first ? { found: "trace", trace: asked } : null;
    }
    case "dlv":
      return entryOfDelivery("delivery", await readDelivery(db, tenant, asked));
    case "op": {
      const delivery = await findDeliveryOfOp(db, tenant, asked);
      return delivery === null ? null : entryOfDelivery("op", await readDelivery(db, tenant, delivery));
    }
    case "msg": {
      const found = await entryOfMessage(ports, await readMessage(db, tenant, asked));
      if (found) return found;
      break;
    }
    default:
      break;
  }
  const run = await readRunOfStream(db, tenant, asked);
  return run ? { found: "stream", run } : findPost(ports, asked);
}

function entryOfRun(found: Entry["found"], run: RunRecord | null): Entry | null {
  return run && { found, run };
}

function entryOfDelivery(found: Entry["found"], delivery: DeliveryRecord | null): Entry | null {
  return delivery && { found, delivery };
}

async function entryOfMessage(ports: HttpPorts, message: MessageRecord | null): Promise<Entry | null> {
  if (!message) return null;
  if (message.delivery !== null) {
    const delivery = await readDelivery(ports.db, ports.tenant, message.delivery);
    if (delivery) return { found: "message", delivery };
  }
  return message.turn === null ? null : { found: "message", turn: message.turn };
}

/** What platforms call a post: a link, an address with an id, or an id alone. */
async function findPost(ports: HttpPorts, asked: string): Promise<Entry | null> {
  const { db, tenant } = ports;
  const linked = await findDeliveryOfPermalink(db, tenant, asked);
  if (linked !== null) return entryOfDelivery("message", await readDelivery(db, tenant, linked));
  const hash = asked.lastIndexOf("#");
  const place = hash > 0 && tryParseAddress(asked.slice(0, hash)) ? asked.slice(0, hash) : undefined;
  const id = place === undefined ? asked : asked.slice(hash + 1);
  if (id === "") return null;
  if (place !== undefined) {
    const own = await readMessage(db, tenant, id);
    if (own?.address === place) return entryOfMessage(ports, own);
  }
  const [posted] = await findDeliveriesOfPost(db, tenant, id, place);
  if (posted !== undefined) return entryOfDelivery("message", await readDelivery(db, tenant, posted));
  if (place !== undefined) {
    parseAddress(place);
    return entryOfMessage(ports, await readPlatformMessage(db, tenant, place, id));
  }
  const [said] = await findPlatformMessages(db, tenant, id);
  return entryOfMessage(ports, said ?? null);
}

async function gather(ports: HttpPorts, entry: Entry): Promise<Story> {
  const { db, tenant } = ports;
  const runs = await runsOf(ports, entry);
  const turnIds = new Set(runs.map((run) => run.turn));
  if ("turn" in entry) turnIds.add(entry.turn);
  if ("delivery" in entry && entry.delivery.turn !== null) turnIds.add(entry.delivery.turn);
  const turns = await Promise.all([...turnIds].map((turn) => readTurn(db, tenant, turn)));
  const found = turns.filter((turn) => turn !== null);
  const deliveries = await deliveriesOf(ports, runs, found);
  if ("delivery" in entry && !deliveries.some(({ id }) => id === entry.delivery.id)) {
    deliveries.push(entry.delivery);
  }
  const messageIds = new Set(
    [...found.map((turn) => turn.message), ...deliveries.map((delivery) => delivery.message)].filter(
      (id) => id !== null,
    ),
  );
  const messages = await Promise.all([...messageIds].map((id) => readMessage(db, tenant, id)));
  return {
    found: entry.found,
    turns: found.toSorted((a, b) => a.createdAt - b.createdAt),
    runs,
    deliveries: deliveries.toSorted((a, b) => a.createdAt - b.createdAt),
    messages: messages.filter((message) => message !== null).toSorted((a, b) => a.at - b.at),
  };
}

/** The run and its jobs; of a turn, all that ran for it. Oldest first. */
async function runsOf(ports: HttpPorts, entry: Entry): Promise<RunRecord[]> {
  const { db, tenant } = ports;
  if ("trace" in entry) return oldestFirst(await listRuns(db, tenant, { trace: entry.trace, limit: most }));
  const first = await firstRuns(ports, entry);
  const jobs = await Promise.all(first.map((run) => listRuns(db, tenant, { parent: run.id, limit: most })));
  const all = new Map([...first, ...jobs.flat()].map((run) => [run.id, run]));
  return oldestFirst([...all.values()]);
}

async function firstRuns(ports: HttpPorts, entry: Entry): Promise<RunRecord[]> {
  const { db, tenant } = ports;
  if ("run" in entry) return [entry.run];
  if ("delivery" in entry && entry.delivery.run !== null) {
    const run = await readRun(db, tenant, entry.delivery.run);
    return run ? [run] : [];
  }
  const turn = "turn" in entry ? entry.turn : "delivery" in entry ? entry.delivery.turn : null;
  return turn === null ? [] : listRuns(db, tenant, { turn, limit: most });
}

function oldestFirst(runs: readonly RunRecord[]): RunRecord[] {
  return runs.toSorted((a, b) => a.createdAt - b.createdAt);
}

async function deliveriesOf(
  ports: HttpPorts,
  runs: readonly RunRecord[],
  turns: readonly TurnRecord[],
): Promise<DeliveryRecord[]> {
  const { db, tenant } = ports;
  const lists = await Promise.all([
    ...runs.map((run) => listDeliveries(db, tenant, { run: run.id, limit: most })),
    ...turns.map((turn) => listDeliveries(db, tenant, { replyTo: turn.id, limit: most })),
  ]);
  return [...new Map(lists.flat().map((delivery) => [delivery.id, delivery])).values()];
}
