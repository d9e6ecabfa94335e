import { answerServer, capabilitiesOf } from "./client-side.ts";
import type { ConnectOptions } from "./connection.ts";
import { isObject, stringOf } from "./decode/fields.ts";
import { decodeServerInfo } from "./decode/server-info.ts";
import { CODE, ProtocolError, RpcError } from "./errors.ts";
import type { Exchange, ExchangeRequest } from "./exchange.ts";
import { headerValue } from "./mirror.ts";
import { pause } from "./pause.ts";
import type { RpcChannel, RpcRequestOptions } from "./rpc.ts";
import { SKILLS_EXTENSION } from "./skills.ts";
import { finishTask, TASKS_EXTENSION } from "./task-extension.ts";
import type { JsonObject, ServerInfo } from "./types.ts";

/** Revisions without a handshake, newest first. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

const META = "io.modelcontextprotocol/";
/** Methods whose result may be a question first (2026-07-28, basic/mrtr). */
const MAY_ASK = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Rounds of questions in one request. A person asked more often than this is not being helped [E268]. */
const MAX_ROUNDS = 8;
/** A round without a question asks for patience. */
const PATIENCE_MS = 500;
/** Whose parameter is repeated as `Mcp-Name`. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

export interface Discovered {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: ServerInfo;
  readonly instructions: string | undefined;
}

type Options = Pick<ConnectOptions, "clientInfo" | "handlers">;

/**
 * Asks a server what it is, in the revision given. Rejects with whatever the request rejects with, or ProtocolError when
 * the answer describes no server: whoever asked takes that for "not of this era".
 */
export async function discover(
  channel: RpcChannel,
  version: string,
  options: Options,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Discovered> {
  channel.sessionless = true;
  const ask = () => sendModern(channel, version, options, "server/discover", {}, limits);
  const result = await ask().catch((error: unknown) => {
    // Refusing the very revision it names as its own happens while such a server is rolled out: once more, not for ever.
    if (supportedBy(error).includes(version)) return ask();
    throw error;
  });
  if (!Array.isArray(result.supportedVersions)) throw new ProtocolError("the answer to `server/discover` is none");
  const shared = MODERN_VERSIONS.find((known) => (result.supportedVersions as unknown[]).includes(known));
  return {
    version: shared ?? version,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    serverInfo: decodeServerInfo((isObject(result._meta) && result._meta[`${META}serverInfo`]) || result.serverInfo),
    instructions: stringOf(result.instructions),
  };
}

/** The revisions a refusal of ours names, if it is one (2026-07-28, error -32022). */
export function supportedBy(error: unknown): readonly unknown[] {
  if (!(error instanceof RpcError) || error.code !== CODE.unsupportedVersion) return [];
  const supported = isObject(error.data) ? error.data.supported : undefined;
  return Array.isArray(supported) ? supported : [];
}

/** Requests of 2026-07-28: each carries who asks and what they can do, and its result may be a question first. */
export function modernExchange(channel: RpcChannel, found: Discovered, options: Options): Exchange {
  const send = (method: string, params: JsonObject, request: ExchangeRequest) =>
    sendModern(channel, found.version, options, method, params, request);

  async function request(method: string, params: JsonObject, limits: ExchangeRequest): Promise<JsonObject> {
    let answers: JsonObject = {};
    for (let round = 0; ; round++) {
      const result = await send(method, { ...params, ...answers }, limits);
      switch (result.resultType ?? "complete") {
        case "complete":
          return result;
        case "task":
          if (method === "tools/call") return finishTask(result, { send, ask, limits });
          break;
        case "input_required":
          if (!MAY_ASK.has(method)) break;
          if (round === MAX_ROUNDS)
            throw new ProtocolError(`it asked for more input ${MAX_ROUNDS} times without a result`);
          answers = await answersTo(result, limits.signal);
          continue;
      }
      throw new ProtocolError(
        `its result to \`${method}\` is of the unknown type ${JSON.stringify(result.resultType)}`,
      );
    }
  }

  /** What goes into the next round: answers under the keys of their questions, and the state exactly as it came. */
  async function answersTo(result: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const questions = isObject(result.inputRequests) ? result.inputRequests : {};
    const inputResponses = await ask(questions, signal);
    if (Object.keys(inputResponses).length === 0) await pause(PATIENCE_MS, signal);
    return {
      ...(Object.keys(inputResponses).length > 0 && { inputResponses }),
      ...("requestState" in result && { requestState: result.requestState }),
    };
  }

  /** Answers all questions; one that nobody here can answer ends the request [E271]. */
  async function ask(questions: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const patience = signal ?? new AbortController().signal;
    const entries = Object.entries(questions).map(async ([key, question]) => {
      const { method, params } = isObject(question) ? question : {};
      const answer = answerServer(options.handlers, String(method), isObject(params) ? params : {}, patience);
      if (!answer) throw new ProtocolError(`it asks for ${JSON.stringify(method)}, which this agent does not offer`);
      return [key, await answer] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  return {
    era: "modern",
    protocolVersion: found.version,
    serverInfo: found.serverInfo,
    capabilities: found.capabilities,
    instructions: found.instructions,
    mirrorsArguments: channel.transport.kind === "http",
    request,
    close: () => channel.close(),
  };
}

/** One request in the envelope of its revision. Over HTTP what is routed by is repeated in headers. */
export async function sendModern(
  channel: RpcChannel,
  version: string,
  { clientInfo, handlers }: Options,
  method: string,
  params: JsonObject,
  request: ExchangeRequest & Pick<RpcRequestOptions, "background" | "onId">,
): Promise<JsonObject> {
  const isHttp = channel.transport.kind === "http";
  const _meta = {
    [`${META}protocolVersion`]: version,
    [`${META}clientInfo`]: clientInfo,
    [`${META}clientCapabilities`]: {
      ...capabilitiesOf(handlers, version),
      extensions: { [TASKS_EXTENSION]: {}, [SKILLS_EXTENSION]: {} },
    },
    ...(handlers.log && { [`${META}logLevel`]: "info" }),
  };
  const result = await channel.request(
    method,
    { ...params, _meta },
    {
      ...request,
      // Over HTTP the end of the request's own stream is its cancellation (2026-07-28, basic/utilities/cancellation).
      cancel: isHttp ? "close" : "notify",
      headers: { ...(isHttp && routingHeaders(version, method, params)), ...request.headers },
    },
  );
  if (!isObject(result)) throw new ProtocolError(`its result to \`${method}\` is no object`);
  return result;
}

function routingHeaders(version: string, method: string, params: JsonObject): Record<string, string> {
  const named = params[NAMED_BY[method] ?? ""];
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof named === "string" && { "mcp-name": headerValue(named) }),
  };
}
