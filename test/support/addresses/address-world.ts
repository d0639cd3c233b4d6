/**
 * Random histories of people, agents and tools at ten places, with restarts and kills; and a model that says, from the
 * requirements alone, which posts must stand where. After a history the posts are exactly those.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { renderText } from "../../../src/texts/render.ts";
import type { FreshStore, TestStore } from "../stores.ts";
import { signedRequest } from "../webhook-peer.ts";
import { databaseTarget } from "../../../src/gateway/open-database.ts";
import { endLeases } from "../end-leases.ts";
import { GatewayProcess } from "./gateway-process.ts";
import type { Ask, EchoKind, Operation } from "./operations.ts";
import { AddressPlatform } from "./platform.ts";
import { accounts, crossPost, type HistoryPlace, maySend, placesOf, targets } from "./places.ts";
import type { Plan } from "./wire.ts";

/** A message, and what is known of the run that answers it. */
interface Asked {
  nonce: string;
  place: HistoryPlace;
  plan: Plan;
  run: string;
  /** Once it has acted. */
  echo: string;
  token: string;
  /** Of which life of the gateway its token is; a holder's token is new in each. */
  life: number;
  state: "queued" | "held" | "ended";
}

export class AddressWorld {
  readonly #memory: "conversation" | "shared";
  readonly #platform: AddressPlatform;
  readonly #fresh: FreshStore;
  readonly #folder: string;
  #gateway: GatewayProcess | null = null;
  #life = 0;
  #history = "";
  #places: HistoryPlace[] = [];
  #asked: Asked[] = [];
  /** Addresses that each token has ever worked for. */
  readonly #served = new Map<string, Set<string>>();
  /** What must stand where, in no order. */
  #expected: string[] = [];
  #count = 0;

  private constructor(
    memory: "conversation" | "shared",
    platform: AddressPlatform,
    fresh: FreshStore,
    folder: string,
  ) {
    this.#memory = memory;
    this.#platform = platform;
    this.#fresh = fresh;
    this.#folder = folder;
  }

  static async make(store: TestStore, memory: "conversation" | "shared"): Promise<AddressWorld> {
    const folder = await mkdtemp(path.join(tmpdir(), "waybill-addresses-"));
    return new AddressWorld(memory, await AddressPlatform.start(), await store.fresh(), folder);
  }

  /** Plays one history and holds the posts against what was asked for. */
  async play(operations: readonly Operation[]): Promise<void> {
    this.#history = randomUUID().slice(0, 8);
    this.#places = placesOf(this.#history);
    this.#asked = [];
    this.#expected = [];
    this.#platform.forget();
    this.#gateway ??= await this.#start();
    for (const operation of operations) await this.#do(operation);
    while (this.#live("held").length > 0) await this.#release(this.#live("held")[0]!);
    await this.#verify();
  }

  placeName(index: number): string {
    return placesOf("x")[index]!.name;
  }

  #start(): Promise<GatewayProcess> {
    this.#life += 1;
    return GatewayProcess.start({
      databaseUrl: this.#fresh.databaseUrl,
      dataDir: this.#folder,
      platform: { url: this.#platform.url, secret: this.#platform.secret },
      accounts,
      memory: this.#memory,
      crossPost,
    });
  }

  get #running(): GatewayProcess {
    if (!this.#gateway) throw new Error("No gateway is running.");
    return this.#gateway;
  }

  #live(state: Asked["state"]): Asked[] {
    return this.#asked.filter((one) => one.state === state);
  }

  async #do(operation: Operation): Promise<void> {
    switch (operation.op) {
      case "ask":
        await Promise.all(operation.asks.map((one) => this.#ask(one)));
        return this.#quiet();
      case "release": {
        const held = this.#live("held");
        return held.length === 0 ? undefined : this.#release(held[operation.pick % held.length]!);
      }
      case "tool": {
        const known = this.#asked.filter(
          (one) => one.token !== "" && (one.state === "ended") === operation.ended,
        );
        if (known.length === 0) return;
        return this.#tool(known[operation.pick % known.length]!, operation.echo, operation.to);
      }
      case "operator":
        return this.#operator(targets[operation.to]!);
      case "restart":
        return this.#again("SIGTERM");
      case "kill":
        return this.#again("SIGKILL");
    }
  }

  #nonce(): string {
    this.#count += 1;
    return `n${this.#count}-${this.#history}`;
  }

  #expect(address: string, text: string): void {
    this.#expected.push(`${address} | ${text}`);
  }

  async #ask(ask: Ask): Promise<void> {
    const place = this.#places[ask.place]!;
    const acts = ask.acts as Plan["acts"];
    const plan: Plan = { nonce: this.#nonce(), acts, hold: ask.hold, holder: ask.holder };
    const asked: Asked = {
      nonce: plan.nonce,
      place,
      plan,
      run: "",
      echo: "",
      token: "",
      life: 0,
      state: "queued",
    };
    const answer = await fetch(this.#message(place, plan));
    if (answer.status !== 202) throw new Error(`${plan.nonce}: ${answer.status} ${await answer.text()}`);
    asked.run = ((await answer.json()) as { run: string }).run;
    this.#asked.push(asked);
  }

  #message(place: HistoryPlace, plan: Plan): Request {
    const { url } = this.#running;
    const [, channel = "", account = "", rest = ""] = /^(\w+):(\w+)\/(.*)$/.exec(place.address) ?? [];
    const [conversation = "", thread] = rest.split("/");
    const [text, id] = [JSON.stringify(plan), plan.nonce];
    if (channel === "webhook") {
      const said = {
        id,
        conversation: { id: conversation, kind: place.kind },
        thread,
        text,
        sender: { id: "u1" },
      };
      return signedRequest(`${url}/channels/webhook`, this.#platform.secret, JSON.stringify(said), {
        account,
      });
    }
    const body = JSON.stringify({ id, conversation, thread, kind: place.kind, text });
    const headers = { "content-type": "application/json" };
    return new Request(`${url}/v1/messages`, { method: "POST", headers, body });
  }

  /** Resolves when each lane's first run waits at its gate, and nothing else is going on. */
  async #quiet(): Promise<void> {
    const lanes = new Map<string, Asked[]>();
    for (const one of this.#asked) {
      if (one.state !== "ended") lanes.set(one.place.address, [...(lanes.get(one.place.address) ?? []), one]);
    }
    await Promise.all([...lanes.values()].map((lane) => this.#quietLane(lane)));
  }

  /** Messages that came at the same moment may stand in either order, so whichever acts first is the lane's first. */
  async #quietLane(lane: Asked[]): Promise<void> {
    const waiting = new Set(lane.filter((one) => one.state === "queued"));
    if (lane.some((one) => one.state === "held")) return;
    while (waiting.size > 0) {
      const first = await Promise.race(
        [...waiting].map((one) => this.#running.acted(one.nonce).then((acted) => ({ one, acted }))),
      );
      const { one, acted } = first;
      waiting.delete(one);
      this.#hasActed(one, acted);
      if (one.plan.hold) {
        one.state = "held";
        return;
      }
      await this.#hasEnded(one);
    }
  }

  #hasActed(one: Asked, acted: { echo: string; token: string; refusals: string[] }): void {
    const { place, plan, nonce } = one;
    const refused: string[] = [];
    for (const [n, act] of plan.acts.entries()) {
      const to = act.do === "send" ? act.to : place.address;
      if (maySend(place, to)) this.#expect(to, `${nonce} ${act.do} ${n}`);
      else refused.push("cross_post_not_allowed");
    }
    expect(acted.refusals, `what ${nonce} was refused in ${place.address}`).toEqual(refused);
    expect(acted.echo, `the echo of ${nonce}`).toContain(place.address);
    [one.echo, one.token, one.life] = [acted.echo, acted.token, this.#life];
    const served = this.#served.get(one.token) ?? new Set();
    this.#served.set(one.token, served.add(place.address));
  }

  async #hasEnded(one: Asked): Promise<void> {
    expect(await this.#running.ended(one.run), `the end of ${one.nonce}`).toBe("completed");
    one.state = "ended";
    this.#expect(one.place.address, `${one.nonce} answer`);
  }

  async #release(one: Asked): Promise<void> {
    this.#running.open(one.nonce);
    await this.#hasEnded(one);
    await this.#quiet();
  }

  async #tool(one: Asked, kind: EchoKind, to: string | null): Promise<void> {
    const stolen = this.#asked.find((other) => other.token !== "" && other.token !== one.token);
    const text = `${one.nonce} tool ${this.#nonce()}`;
    const echo = echoOf(kind, one, stolen);
    const body = {
      text,
      ...(to === null ? {} : { to }),
      ...(echo === null ? {} : { turn_conversation: echo }),
    };
    const answer = await this.#post("/v1/sends", body, one.token);
    const clear = kind === "own" || (kind === "none" && this.#served.get(one.token)?.size === 1);
    const allowed = clear && (to === null || maySend(one.place, to));
    expect([answer.status === 202, answer.status], `${kind} of ${one.nonce}: ${answer.text}`).toEqual([
      allowed,
      allowed ? 202 : expect.any(Number),
    ]);
    if (allowed) this.#expect(to ?? one.place.address, text);
  }

  async #operator(to: string): Promise<void> {
    const text = `operator ${this.#nonce()}`;
    const answer = await this.#post("/v1/sends", { to, text }, null);
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    this.#expect(to, text);
  }

  async #post(route: string, body: object, token: string | null): Promise<{ status: number; text: string }> {
    const headers = {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await fetch(`${this.#running.url}${route}`, init);
    return { status: answer.status, text: await answer.text() };
  }

  /** What waited is reported where it was asked, once; what was queued goes on. */
  async #again(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#running.end(signal);
    this.#gateway = null;
    await endLeases(databaseTarget(this.#fresh.databaseUrl, this.#folder));
    for (const one of this.#live("held")) {
      one.state = "ended";
      this.#expect(one.place.address, renderText("en", "run.interrupted", { run: one.run }));
    }
    this.#gateway = await this.#start();
    await this.#quiet();
  }

  async #verify(): Promise<void> {
    const wanted = this.#expected.filter((post) => !post.startsWith("web:"));
    await this.#platform.until(() => this.#platform.posts.length >= wanted.length);
    while (await this.#pending()) await new Promise(setImmediate);
    const web = await Promise.all(
      this.#places.filter(({ address }) => address.startsWith("web:")).map((place) => this.#webPosts(place)),
    );
    const found = [...this.#platform.posts, ...web.flat()].map(({ address, text }) => `${address} | ${text}`);
    expect(found.toSorted()).toEqual(this.#expected.toSorted());
  }

  async #pending(): Promise<boolean> {
    const counts = await Promise.all(
      ["pending", "sending"].map(async (state) => {
        const answer = await fetch(`${this.#running.url}/v1/deliveries?state=${state}&limit=1`);
        return ((await answer.json()) as { items: unknown[] }).items.length;
      }),
    );
    return counts.some((count) => count > 0);
  }

  async #webPosts({ address }: HistoryPlace): Promise<{ address: string; text: string }[]> {
    const query = new URLSearchParams({ address, limit: "1000" });
    const answer = await fetch(`${this.#running.url}/v1/messages?${query}`);
    const { items } = (await answer.json()) as { items: { role: string; text: string }[] };
    return items.filter(({ role }) => role === "assistant").map(({ text }) => ({ address, text }));
  }

  async dispose(): Promise<void> {
    await this.#gateway?.end("SIGKILL");
    await this.#platform.stop();
    await this.#fresh.dispose();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function echoOf(kind: EchoKind, one: Asked, stolen: Asked | undefined): string | null {
  switch (kind) {
    case "own":
      return one.echo;
    case "forged":
      return one.echo.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    case "moved":
      return one.echo.replace(
        one.place.address,
        targets.find((to) => to !== one.place.address)!,
      );
    case "stolen":
      // Where there is no other holder, somebody else's is one of an earlier life: never given.
      return stolen?.echo ?? "web:main/elsewhere;turn=turn_0;sig=AAAA";
    case "prose":
      return "the direct message that I am answering";
    case "none":
      return null;
  }
}
