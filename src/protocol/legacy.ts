import type { Transport } from "../transport/transport.ts";
import type { ConnectionRequest, ConnectOptions, McpConnection, ToolListing } from "./connection.ts";
import { decodeCallResult } from "./decode/call-result.ts";
import { decodeInitializeResult, type InitializeResult } from "./decode/initialize-result.ts";
import { decodeTool } from "./decode/tool.ts";
import { listAll } from "./list.ts";
import { RequestCancelled, RequestTimeout, RpcChannel } from "./rpc.ts";
import type { CallToolResult, JsonObject } from "./types.ts";

/** Revisions with the `initialize` handshake, newest first. 2024-10-07 is what the first SDKs still offer. */
const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"] as const;

/** From this revision on the agreed revision is repeated in a header (2025-06-18, transports, protocol version header). */
const HEADER_SINCE = "2025-06-18";

/** The server speaks a revision nobody here knows. */
export class UnsupportedVersion extends Error {
  override readonly name = "UnsupportedVersion";
  constructor(version: string) {
    super(`it speaks protocol revision ${JSON.stringify(version)}; known are ${LEGACY_VERSIONS.join(", ")}`);
  }
}

/**
 * Opens the transport and shakes hands as revisions up to 2025-11-25 do: `initialize`, any known revision taken as the
 * server answers it, then `notifications/initialized`. One deadline covers all of it. On failure the transport is
 * left to the caller, who may want its diagnostics before closing it.
 */
export async function connectLegacy(transport: Transport, options: ConnectOptions): Promise<McpConnection> {
  const channel = new RpcChannel(transport, {
    request: (method) => (method === "ping" ? Promise.resolve({}) : undefined),
    notification: () => {},
    closed: (reason) => options.onClosed(reason),
  });
  const deadline = Date.now() + options.timeoutMs;
  const remaining = () => Math.max(1, deadline - Date.now());
  await channel.open();
  const answer = await channel.request(
    "initialize",
    { protocolVersion: options.protocolVersion, capabilities: {}, clientInfo: options.clientInfo },
    { timeoutMs: remaining(), signal: options.signal, cancellable: false },
  );
  const initialized = decodeInitializeResult(answer);
  if (!(LEGACY_VERSIONS as readonly string[]).includes(initialized.protocolVersion)) {
    throw new UnsupportedVersion(initialized.protocolVersion);
  }
  if (initialized.protocolVersion >= HEADER_SINCE) {
    channel.headers = { "mcp-protocol-version": initialized.protocolVersion };
  }
  await within(remaining(), options.signal, (signal) => channel.notify("notifications/initialized", {}, signal));
  return new LegacyConnection(channel, initialized);
}

class LegacyConnection implements McpConnection {
  readonly #channel: RpcChannel;
  readonly protocolVersion: string;
  readonly serverInfo: McpConnection["serverInfo"];
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;

  constructor(channel: RpcChannel, initialized: InitializeResult) {
    this.#channel = channel;
    this.protocolVersion = initialized.protocolVersion;
    this.serverInfo = initialized.serverInfo;
    this.capabilities = initialized.capabilities;
    this.instructions = initialized.instructions;
  }

  async listTools(options: ConnectionRequest): Promise<ToolListing> {
    const listed = await listAll((params) => this.#channel.request("tools/list", params, options), "tools", decodeTool);
    return { tools: listed.items, notices: listed.notices };
  }

  async callTool(name: string, args: JsonObject | undefined, options: ConnectionRequest): Promise<CallToolResult> {
    const params = args === undefined ? { name } : { name, arguments: args };
    return decodeCallResult(await this.#channel.request("tools/call", params, { ...options, withProgress: true }));
  }

  close(): Promise<void> {
    return this.#channel.close();
  }
}

/** A notification has no answer to wait for, but over HTTP it has a response, and that may never come. */
async function within(
  limitMs: number,
  outer: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    await send(outer ? AbortSignal.any([outer, limit.signal]) : limit.signal);
  } catch (error) {
    if (outer?.aborted) throw new RequestCancelled();
    if (limit.signal.aborted) throw new RequestTimeout("notifications/initialized", limitMs);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
