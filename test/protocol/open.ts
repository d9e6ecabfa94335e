import { connect, type OpenTransport } from "../../src/protocol/connect.ts";
import type { ConnectOptions, McpConnection } from "../../src/protocol/connection.ts";
import { HttpTransport } from "../../src/transport/http.ts";
import { StdioTransport } from "../../src/transport/stdio.ts";
import type { Transport } from "../../src/transport/transport.ts";
import type { FakeStdio } from "../ground/fake-server.ts";
import type { Home } from "../ground/home.ts";
import type { FakeHttp } from "../ground/http-server.ts";
import type { ServerScript, Step } from "../ground/script.ts";

/** A request that only a hung test would outlive. */
export const patient = { timeoutMs: 15_000 };

export const clientInfo = { name: "test", version: "1" };

/** A script of a server of 2026-07-28, which knows no handshake. */
export function modern(script: ServerScript = {}, discovered: object = {}): ServerScript {
  const { on, ...rest } = script;
  return {
    ...rest,
    sessions: false,
    on: {
      "server/discover": { result: discoverResult(discovered) },
      initialize: { error: { code: -32601, message: "Method not found" } },
      ...on,
    },
  };
}

export function discoverResult(more: object = {}): object {
  return {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern", version: "2" } },
    ...more,
  };
}

/** The first step of a call that asks the person something before it has a result. */
export function asks(questions: object, requestState?: string): Step {
  return { result: { resultType: "input_required", inputRequests: questions, ...(requestState && { requestState }) } };
}

export type Options = Partial<ConnectOptions>;

const defaults = (options: Options): ConnectOptions => ({
  protocolVersion: "auto",
  clientInfo,
  timeoutMs: 15_000,
  handlers: {},
  onClosed: () => {},
  ...options,
});

export function connectStdio(server: FakeStdio, home: Home, options: Options = {}): Promise<Closing> {
  return closing(
    async () => new StdioTransport({ command: server.command, args: server.args, env: home.env(), cwd: home.cwd }),
    options,
  );
}

export function connectHttp(server: FakeHttp, options: Options = {}): Promise<Closing> {
  return closing(async () => new HttpTransport({ url: server.url, headers: {}, env: {} }), options);
}

export type Closing = McpConnection & AsyncDisposable;

/** Ended with the test, also when there is no connection. */
async function closing(open: OpenTransport, options: Options): Promise<Closing> {
  let last: Transport | undefined;
  const remembering: OpenTransport = async (flavor) => {
    last = await open(flavor);
    return last;
  };
  try {
    const connection = await connect(remembering, defaults(options));
    return { ...connection, [Symbol.asyncDispose]: () => connection.close() };
  } catch (error) {
    await last?.close();
    throw error;
  }
}
