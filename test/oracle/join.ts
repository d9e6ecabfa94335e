import { ORIGINS } from "../../src/config/origins.ts";
import type { ServerTarget } from "../../src/config/record.ts";
import { connect } from "../../src/protocol/connect.ts";
import type { McpConnection } from "../../src/protocol/connection.ts";
import type { ClientHandlers } from "../../src/protocol/handlers.ts";
import { createTransport } from "../../src/server/open-transport.ts";
import type { HttpAuth } from "../../src/transport/http-auth.ts";
import { CLIENT_INFO } from "../../src/version.ts";

export interface JoinOptions {
  readonly protocolVersion: string;
  readonly handlers: ClientHandlers;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** For a server over HTTP: who we are for it. */
  readonly auth?: HttpAuth | undefined;
}

/** Our client at one server, through the product's own transports, with the usual policy and nothing above it. */
export function join(target: ServerTarget, options: JoinOptions): Promise<McpConnection> {
  const { protocolVersion, handlers, env = process.env, cwd = process.cwd(), auth } = options;
  const open = (flavor: "usual" | "sse") =>
    createTransport(target, flavor, { name: "peer", policy: ORIGINS.mcpjson }, { env, cwd }, undefined, auth);
  return connect(open, {
    protocolVersion,
    handlers,
    clientInfo: CLIENT_INFO,
    timeoutMs: 30_000,
    // Whoever waits for an answer is told; these programs wait for nothing else.
    onClosed: () => {},
  });
}
