import type { ConfiguredSecret, ServerConfig, ServerTarget } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { redactDefinition, valueSecrets, wordSecrets } from "../content/redact-definition.ts";
import { connect } from "../protocol/connect.ts";
import type { ConnectOptions } from "../protocol/connection.ts";
import type { ClientHandlers, Elicitation } from "../protocol/handlers.ts";
import { inTime } from "../protocol/pause.ts";
import type { Transport, TransportError } from "../transport/transport.ts";
import { CLIENT_INFO } from "../version.ts";
import type { Authorization } from "./authorization.ts";
import { toServerError } from "./failure.ts";
import { fillIn } from "./fill-in.ts";
import { growingRedactor } from "./growing-redactor.ts";
import { joinAuth } from "./join-auth.ts";
import { Live, type Redactors } from "./live.ts";
import { createTransport, type Surroundings } from "./open-transport.ts";

const NONE: readonly ConfiguredSecret[] = [];

/** What there is around a server, and its sign-in. */
export interface AuthorizedSurroundings extends Surroundings {
  readonly authorization?: Authorization;
}

interface OpenOptions extends Pick<ConnectOptions, "handlers" | "knownEra"> {
  readonly signal: AbortSignal;
  onClosed(live: Live, reason: TransportError): void;
}

/**
 * Connects to a configured server: fills in its values, opens its transport, shakes hands. Rejects with McpServerError,
 * and then nothing is left of it.
 */
export async function openLive(
  config: ServerConfig,
  surroundings: AuthorizedSurroundings,
  options: OpenOptions,
): Promise<Live> {
  const { knownEra, signal } = options;
  const { target, secrets, unset } = await fillIn(config, surroundings, signal);
  const { authorization } = surroundings;
  const commanded = await headersOf(config, target, surroundings);
  const tokens = joinedSecrets(
    () => authorization?.secrets ?? NONE,
    () => commanded?.secrets ?? NONE,
  );
  const listings = growingRedactor(secrets, "values", tokens);
  const redact: Redactors = {
    errors: growingRedactor(secrets, "patterns", tokens),
    results: growingRedactor(secrets, config.policy.redactResults, tokens),
    listings,
    definitions: {
      texts: listings,
      values: growingRedactor(valueSecrets(secrets), "values", tokens),
      words: growingRedactor(wordSecrets(secrets), "values", tokens),
    },
  };
  await commanded?.prepare(signal);
  const { startTimeoutMs: timeoutMs } = config.policy;
  const handlers = withoutSecrets(options.handlers, redact);
  let transport: Transport | undefined;
  let live: Live | undefined;
  const open = async (flavor: "usual" | "sse"): Promise<Transport> => {
    const signIn = authorization?.httpAuth(target);
    const auth = commanded ? joinAuth(commanded, signIn) : signIn;
    const notice = (text: string) => handlers.notice?.(text);
    const reports = { notice, redactor: redact.errors };
    transport = await createTransport(target, flavor, config, surroundings, reports, auth);
    return transport;
  };
  try {
    // By a clock of its own, so that the handshake has all of its time [E278]. What is late is still finished and stored.
    const renewed = authorization?.prepare(target);
    if (renewed) await inTime(renewed, { what: "renewing its sign-in", leftMs: timeoutMs, limitMs: timeoutMs, signal });
    const connection = await connect(open, {
      protocolVersion: config.policy.protocolVersion,
      clientInfo: CLIENT_INFO,
      timeoutMs,
      listLimit: config.policy.listLimit,
      handlers,
      knownEra,
      signal,
      onClosed: (reason) => live && options.onClosed(live, reason),
    });
    live = new Live(connection, transport as unknown as Transport, redact);
    return live;
  } catch (thrown) {
    const diagnostics = transport?.diagnostics() ?? "";
    await transport?.close();
    throw toServerError(thrown, { config, redactor: redact.errors, during: "initialize", diagnostics, unset });
  }
}

/** Of a server whose headers a program writes. With all it takes to start processes, which others have no need of. */
async function headersOf(config: ServerConfig, target: ServerTarget, surroundings: Surroundings) {
  if (target.kind === "stdio" || !target.headersCommand) return undefined;
  const { CommandedHeaders } = await import("./headers-command.ts");
  return new CommandedHeaders(config, target.headersCommand, surroundings);
}

/** One list of two; the same as long as both are. */
function joinedSecrets(...sources: readonly (() => readonly ConfiguredSecret[])[]): () => readonly ConfiguredSecret[] {
  let lists: readonly (readonly ConfiguredSecret[])[] = [];
  let joined = NONE;
  return () => {
    const now = sources.map((source) => source());
    if (now.some((list, index) => list !== lists[index])) joined = now.flat();
    lists = now;
    return joined;
  };
}

/** What a server says beside its answers quotes what it was given as well. */
function withoutSecrets(handlers: ClientHandlers, redact: Redactors): ClientHandlers {
  const { notice, log, elicit, sample } = handlers;
  return {
    ...handlers,
    ...(notice && { notice: (text) => notice(redact.errors.text(text)) }),
    ...(log && { log: (entry) => log(redact.results.json(entry)) }),
    ...(elicit && { elicit: { ...elicit, ask: (request, signal) => elicit.ask(question(request, redact), signal) } }),
    ...(sample && { sample: (params, signal) => sample(redact.results.json(params), signal) }),
  };
}

/** What a person reads of it; names of fields and an address go back to the server, or are its own to open. */
function question(request: Elicitation, { results, definitions }: Redactors): Elicitation {
  const message = results.text(request.message);
  if (request.mode !== "form") return { ...request, message };
  return { ...request, message, schema: redactDefinition(request.schema, { ...definitions, words: NOTHING_HIDDEN }) };
}

const NOTHING_HIDDEN = createRedactor([], "values");
