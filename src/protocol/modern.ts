import { isObject } from "../is-object.ts";
import { MODERN_VERSIONS } from "../version.ts";
import { answerServer, capabilitiesOf } from "./client-side.ts";
import type { ConnectOptions } from "./connection.ts";
import { stringOf } from "./decode/fields.ts";
import { decodeServerInfo } from "./decode/server-info.ts";
import { CODE, ProtocolError, RpcError } from "./errors.ts";
import type { Exchange, ExchangeRequest } from "./exchange.ts";
import { headerValue } from "./mirror.ts";
import { pause } from "./pause.ts";
import type { RpcChannel, RpcRequestOptions } from "./rpc.ts";
import { SKILLS_EXTENSION } from "./skills.ts";
import { finishTask, TASKS_EXTENSION } from "./task-extension.ts";
import type { JsonObject, ServerInfo } from "./types.ts";
import { underway } from "./underway.ts";

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
  if (shared === undefined) throw new ProtocolError("it speaks no revision of this era that is known here");
  return {
    version: shared,
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
    const first = await send(method, params, limits);
    return underway(() => follow(first, method, params, limits));
  }

  /** From the first answer to the last. */
  async function follow(first: JsonObject, method: string, params: JsonObject, limits: ExchangeRequest) {
    let result = first;
    for (let round = 1; ; round++) {
      const { resultType = "complete" } = result;
      if (resultType === "complete") return result;
      if (resultType === "task" && method === "tools/call") {
        return finishTask(result, { send, ask, pause: wait, limits });
      }
      if (resultType !== "input_required" || !MAY_ASK.has(method)) {
        throw new ProtocolError(`its result to \`${method}\` is of the unknown type ${JSON.stringify(resultType)}`);
      }
      if (round > MAX_ROUNDS) throw new ProtocolError(`it asked for more input ${MAX_ROUNDS} times without a result`);
      result = await send(method, { ...params, ...(await answersTo(result, limits.signal)) }, limits);
    }
  }

  const wait = (ms: number, signal: AbortSignal | undefined) => channel.between(signal, (either) => pause(ms, either));

  /** What goes into the next round: answers under the keys of their questions, and the state exactly as it came. */
  async function answersTo(result: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const questions = isObject(result.inputRequests) ? result.inputRequests : {};
    const inputResponses = await ask(questions, signal);
    if (Object.keys(inputResponses).length === 0) await wait(PATIENCE_MS, signal);
    return {
      ...(Object.keys(inputResponses).length > 0 && { inputResponses }),
      ...("requestState" in result && { requestState: result.requestState }),
    };
  }

  /** Answers all questions; one that nobody here can answer ends the request before anybody is asked [E271]. */
  function ask(questions: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const asked = Object.entries(questions).map(([key, question]) => {
      const { method, params } = isObject(question) ? question : {};
      return { key, method: String(method), params: isObject(params) ? params : {} };
    });
    const offered = Object.keys(capabilitiesOf(options.handlers, found.version));
    const missing = asked.find(({ method }) => !offered.includes(method.split("/")[0] ?? ""));
    if (missing) {
      const error = new ProtocolError(`it asks for ${JSON.stringify(missing.method)}, which this agent does not offer`);
      return Promise.reject(error);
    }
    return channel.between(signal, async (either) => {
      const answers = asked.map(async ({ key, method, params }) => {
        return [key, await answerServer(options.handlers, method, params, either)] as const;
      });
      return Object.fromEntries(await Promise.all(answers));
    });
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
