/** `telegram-test-api`, an emulator that others wrote: private chats, polling, edits and deletions, and no faults. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { TelegramServer } from "telegram-test-api/lib/telegramServer.js";

export interface TestApi {
  server: TelegramServer;
  apiRoot: string;
  stop(): Promise<void>;
}

export async function startTestApi(): Promise<TestApi> {
  // It takes 0 for "the usual port", so a spare one is looked for.
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const server = new TelegramServer({ port, host: "127.0.0.1" });
  await server.start();
  return { server, apiRoot: `http://127.0.0.1:${port}`, stop: async () => void (await server.stop()) };
}
