/** A platform with two accounts that lives in the test, so that it outlives the gateways that are killed. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { randomUUID } from "node:crypto";

interface Delivery {
  key: string;
  kind: "create" | "edit" | "delete";
  account: string;
  conversation: string;
  thread: string | null;
  text: string;
}

export class AddressPlatform {
  readonly secret = `secret-${randomUUID()}`;
  readonly #server: Server;
  readonly #posts = new Map<string, { id: string; address: string; text: string }>();
  readonly #heard = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const [status, body] =
          request.method === "GET"
            ? this.#find(request.url ?? "")
            : this.#take(JSON.parse(Buffer.concat(chunks).toString()) as Delivery);
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
        for (const hear of this.#heard) hear();
      });
    });
  }

  static async start(): Promise<AddressPlatform> {
    const platform = new AddressPlatform();
    platform.#server.listen(0, "127.0.0.1");
    await once(platform.#server, "listening");
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #take(one: Delivery): [number, object] {
    if (one.kind !== "create") return [400, { detail: "nothing is edited here" }];
    const { account, conversation, thread } = one;
    const address = `webhook:${account}/${conversation}${thread === null ? "" : `/${thread}`}`;
    const before = this.#posts.get(one.key);
    const post = before ?? { id: randomUUID(), address, text: one.text };
    this.#posts.set(one.key, post);
    return [200, { id: post.id }];
  }

  #find(url: string): [number, object] {
    const post = this.#posts.get(new URL(url, "http://x").searchParams.get("key") ?? "");
    return post ? [200, { id: post.id }] : [404, {}];
  }

  /** What stands there, of all addresses. */
  get posts(): { address: string; text: string }[] {
    return [...this.#posts.values()].map(({ address, text }) => ({ address, text }));
  }

  forget(): void {
    this.#posts.clear();
  }

  /** Resolves when the condition holds, which is looked at whenever a request was answered. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const hear = (): void => {
          this.#heard.delete(hear);
          resolve();
        };
        this.#heard.add(hear);
      });
    }
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
