import { isObject } from "../is-object.ts";
import { TransportError } from "../transport/transport.ts";
import { LEGACY_VERSIONS } from "../version.ts";
import { capabilitiesOf } from "./client-side.ts";
import type { ConnectOptions } from "./connection.ts";
import { decodeInitializeResult, type InitializeResult } from "./decode/initialize-result.ts";
import { CODE, ProtocolError, RpcError } from "./errors.ts";
import type { Exchange, ExchangeRequest } from "./exchange.ts";
import { finishLegacyTask } from "./legacy-task.ts";
import { pause } from "./pause.ts";
import { retrying } from "./retry.ts";
import type { RpcChannel } from "./rpc.ts";
import { SKILLS_EXTENSION } from "./skills.ts";
import type { Pause } from "./task-watch.ts";
import type { JsonObject } from "./types.ts";
import { underway } from "./underway.ts";
import type { UrlQuestions } from "./url-questions.ts";

/** From this revision on the agreed revision is repeated in a header (2025-06-18, transports, protocol version header). */
const HEADER_SINCE = "2025-06-18";
/** Older servers have never heard of capabilities with names of their own. */
const EXTENSIONS_SINCE = "2025-11-25";

/**
 * Shakes hands as revisions up to 2025-11-25 do: `initialize`, any known revision taken as the server answers it, then
 * `notifications/initialized`.
 */
export async function initialize(
  channel: RpcChannel,
  version: string,
  { clientInfo, handlers }: Pick<ConnectOptions, "clientInfo" | "handlers">,
  limits: { remainingMs(): number; signal?: AbortSignal | undefined },
): Promise<InitializeResult> {
  channel.sessionless = false;
  const extensions = version >= EXTENSIONS_SINCE && { extensions: { [SKILLS_EXTENSION]: {} } };
  const capabilities = { ...capabilitiesOf(handlers, version), ...extensions };
  const answer = await retrying(channel, limits, () =>
    channel.request(
      "initialize",
      { protocolVersion: version, capabilities, clientInfo },
      { timeoutMs: limits.remainingMs(), signal: limits.signal, cancel: "never" },
    ),
  );
  const initialized = decodeInitializeResult(answer);
  if (!LEGACY_VERSIONS.includes(initialized.protocolVersion)) {
    const named = JSON.stringify(initialized.protocolVersion);
    throw new ProtocolError(`it speaks protocol revision ${named}; known are ${LEGACY_VERSIONS.join(", ")}`);
  }
  channel.revision = initialized.protocolVersion;
  if (initialized.protocolVersion >= HEADER_SINCE) {
    channel.headers = { "mcp-protocol-version": initialized.protocolVersion };
  }
  await tellInitialized(channel, limits);
  channel.transport.listen(channel.headers);
  return initialized;
}

/** The server has already agreed: that it cannot take this notification, or not in time, is no reason to part. */
async function tellInitialized(
  channel: RpcChannel,
  limits: { remainingMs(): number; signal?: AbortSignal | undefined },
): Promise<void> {
  const patience = AbortSignal.timeout(Math.min(limits.remainingMs(), 5_000));
  const signal = limits.signal ? AbortSignal.any([limits.signal, patience]) : patience;
  // Unlike a request, a notification has no clock that would hold the process.
  const hold = setTimeout(() => {}, 0x7fffffff);
  try {
    await channel.notify("notifications/initialized", {}, { signal });
  } catch (error) {
    if (limits.signal?.aborted || !patience.aborted) {
      const refused = error instanceof TransportError && error.http && error.failure === "status";
      if (!refused) throw error;
    }
  } finally {
    clearTimeout(hold);
  }
}

/** Requests of the older revisions: what the server asks on the way comes as requests of its own. */
export function legacyExchange(channel: RpcChannel, initialized: InitializeResult, urls: UrlQuestions): Exchange {
  const pauseBetween: Pause = (ms, signal) => channel.between(signal, (either) => pause(ms, either));

  async function send(method: string, params: JsonObject, options: ExchangeRequest): Promise<JsonObject> {
    const result = await channel.request(method, params, options);
    if (isObject(result)) return result;
    throw new ProtocolError(`its result to \`${method}\` is no object`);
  }

  async function attempt(method: string, params: JsonObject, options: ExchangeRequest): Promise<JsonObject> {
    const result = await send(method, params, options);
    const { task } = result;
    if (!("task" in params) || !isObject(task)) return result;
    return underway(() => finishLegacyTask(task, send, pauseBetween, options));
  }

  async function request(method: string, params: JsonObject, options: ExchangeRequest): Promise<JsonObject> {
    try {
      return await attempt(method, params, options);
    } catch (error) {
      // An address to visit first (2025-11-25, client/elicitation); then the request is made once more.
      if (!(error instanceof RpcError) || error.code !== CODE.urlElicitationRequired) throw error;
      const isVisited = await channel.between(options.signal, (signal) => urls.visitAll(error, signal));
      if (!isVisited) throw error;
      return attempt(method, params, options);
    }
  }

  return {
    era: "legacy",
    protocolVersion: initialized.protocolVersion,
    serverInfo: initialized.serverInfo,
    capabilities: initialized.capabilities,
    instructions: initialized.instructions,
    mirrorsArguments: false,
    request,
    close: () => channel.close(),
  };
}
