/** What this channel uses of irc-framework, which comes without types. */
declare module "irc-framework" {
  export interface RawMessage {
    command: string;
    params: string[];
    tags: Record<string, string>;
  }
  export interface MessageEvent {
    nick: string;
    target: string;
    message: string;
    tags: Record<string, string>;
    account?: string;
    from_server: boolean;
  }
  export interface ClientOptions {
    host: string;
    port: number;
    tls: boolean;
    nick: string;
    username: string;
    gecos: string;
    password?: string;
    account?: { account: string; password: string };
    version: null;
    auto_reconnect: boolean;
  }
  type RawHandler = (
    command: string,
    message: RawMessage,
    line: string,
    client: Client,
    next: () => void,
  ) => void;
  export class Client {
    readonly user: { nick: string };
    /** `cap.enabled`: what server and client have agreed on. */
    readonly network: { cap: { enabled: string[] } };
    readonly connected: boolean;
    requestCap(names: string[]): void;
    connect(options: ClientOptions): void;
    use(middleware: (client: Client, raw: { use(handler: RawHandler): void }) => void): Client;
    on(event: "privmsg", hear: (event: MessageEvent) => void): void;
    on(event: "registered" | "close" | "socket close", hear: () => void): void;
    on(event: "socket error", hear: (error: Error) => void): void;
    join(channel: string): void;
    changeNick(nick: string): void;
    raw(line: string): void;
    quit(message: string): void;
  }
}
