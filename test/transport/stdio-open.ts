import type { JsonRpcMessage } from "../../src/transport/message.ts";
import { type StdioOptions, StdioTransport } from "../../src/transport/stdio.ts";
import type { TransportError } from "../../src/transport/transport.ts";
import { type FakeStdio, fakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import type { ServerScript } from "../ground/script.ts";

/** A connection to a process, and what it has told. */
export interface OpenedStdio extends AsyncDisposable {
  readonly transport: StdioTransport;
  readonly messages: readonly JsonRpcMessage[];
  readonly notices: readonly string[];
  /** Resolves when it says that it is gone. */
  readonly closed: Promise<TransportError>;
  /** Sends a request with the next id. Rejects when its answer, or the connection, is lost. */
  request(method: string, params?: Record<string, unknown>): Promise<JsonRpcMessage>;
  /** `initialize`, and its notification. */
  handshake(): Promise<void>;
  call(args?: Record<string, unknown>): Promise<JsonRpcMessage>;
}

export type Options = Partial<StdioOptions>;

export async function openStdio(home: Home, options: Options & { command: string }): Promise<OpenedStdio> {
  const transport = new StdioTransport({ args: [], env: home.env(), cwd: home.cwd, ...options });
  const messages: JsonRpcMessage[] = [];
  const notices: string[] = [];
  const waiting = new Map<number, { resolve(message: JsonRpcMessage): void; reject(reason: TransportError): void }>();
  let tellClosed: (reason: TransportError) => void = () => {};
  const closed = new Promise<TransportError>((resolve) => {
    tellClosed = resolve;
  });
  let lastId = 0;
  const request: OpenedStdio["request"] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      transport.send({ jsonrpc: "2.0", id, method, params }).catch(reject);
    });
  await transport.open({
    message(message) {
      messages.push(message);
      if (!("method" in message)) waiting.get(Number(message.id))?.resolve(message);
    },
    lost(id, reason) {
      const lost = id === undefined ? [...waiting.values()] : [waiting.get(Number(id))];
      for (const each of lost) each?.reject(reason);
    },
    notice: (text) => notices.push(text),
    closed(reason) {
      tellClosed(reason);
      for (const { reject } of waiting.values()) reject(reason);
    },
  });
  return {
    transport,
    messages,
    notices,
    closed,
    request,
    async handshake() {
      await request("initialize", { protocolVersion: "2025-06-18", capabilities: {} });
      await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    },
    call: (args = {}) => request("tools/call", { name: "echo", arguments: args }),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

/** The same with a fake server behind it. */
export async function openFake(
  home: Home,
  script: ServerScript = {},
  options: Options = {},
): Promise<OpenedStdio & { server: FakeStdio }> {
  const server = await fakeStdio(home, script);
  const { command, args } = server;
  return { server, ...(await openStdio(home, { command, args, ...options })) };
}

/** The text of a tool result. */
export function textOf(message: JsonRpcMessage): string {
  const { content = [] } = ("result" in message ? message.result : {}) as { content?: { text: string }[] };
  return content.map(({ text }) => text).join("");
}
