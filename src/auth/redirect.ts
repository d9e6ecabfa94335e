import type { OAuthSettings } from "../config/record.ts";
import { AuthError } from "./error.ts";

/** One constant for the address that is sent and the one that is served [E103]. */
const CALLBACK_PATH = "/callback";
/** Where a client is known by a fixed address, as one that was registered by hand is [pi's MCP adapter]. */
export const DEFAULT_PORT = 19_876;

export const PORT_VARIABLE = "MCP_OAUTH_CALLBACK_PORT";

/** Where the answer of a sign-in is to come to. */
export interface Redirect {
  readonly hostname: string;
  readonly path: string;
  /** 0: any that is free. */
  readonly port: number;
  /** A port that was used last time is tried again, which saves a registration; another one will do. */
  readonly isFixed: boolean;
  /** The address when the port is known. */
  uri(port: number): string;
}

/**
 * In this order: `redirectUri`, the variable, `callbackPort`, the usual port for a client that was configured, else any
 * [S3-31]. Throws AuthError for what is no address of this computer.
 */
export function redirectOf(settings: OAuthSettings, env: NodeJS.ProcessEnv, earlier: readonly string[] = []): Redirect {
  const fixedPort = portOf(env[PORT_VARIABLE], PORT_VARIABLE) ?? settings.callbackPort;
  if (settings.redirectUri !== undefined) return fixedRedirect(settings.redirectUri, fixedPort);
  const isConfigured = settings.clientId !== undefined;
  const port = fixedPort ?? (isConfigured ? DEFAULT_PORT : undefined);
  return {
    hostname: "localhost",
    path: CALLBACK_PATH,
    port: port ?? portOfEarlier(earlier) ?? 0,
    isFixed: port !== undefined,
    uri: (actual) => `http://localhost:${actual}${CALLBACK_PATH}`,
  };
}

function portOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new AuthError("refused", `${name} is no number of a port`);
}

function portOfEarlier(uris: readonly string[]): number | undefined {
  const found = uris.find(
    (uri) => URL.canParse(uri) && uri === `http://localhost:${new URL(uri).port}${CALLBACK_PATH}`,
  );
  return found === undefined ? undefined : Number(new URL(found).port);
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A port beside it counts where the address has none [E101]. */
function fixedRedirect(written: string, port: number | undefined): Redirect {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isOurs =
    url?.protocol === "http:" &&
    LOOPBACK.has(url.hostname) &&
    !url.username &&
    !url.password &&
    !url.hash &&
    !url.search;
  if (url === undefined || !isOurs || (url.port === "" && port === undefined)) {
    const text = '"redirectUri" in "oauth" of its entry must be an http address of this computer with a port, such as';
    throw new AuthError("refused", `${text} "http://localhost:19876/callback"`);
  }
  const own = url.port === "" ? (port as number) : Number(url.port);
  return {
    hostname: url.hostname,
    path: url.pathname,
    port: own,
    isFixed: true,
    // To the letter, since that is how authorization servers compare it.
    uri: () => (url.port === "" ? `http://${url.hostname}:${own}${url.pathname}` : written),
  };
}

/**
 * What a person pastes to complete a sign-in, as the parameters of an answer: a whole address (query or fragment), a query,
 * or the code alone [S3-38]. A code alone has no state; whoever pasted it vouches for it. Throws AuthError.
 */
export function readPasted(text: string): { readonly parameters: URLSearchParams; readonly isCodeAlone: boolean } {
  // Terminals and mail programs break long addresses into lines.
  const input = text.replace(/\s+/g, "");
  if (/^https?:\/\//i.test(input) && URL.canParse(input)) {
    const { searchParams, hash } = new URL(input);
    const parameters = isAnswer(searchParams) ? searchParams : new URLSearchParams(hash.slice(1));
    if (isAnswer(parameters)) return { parameters, isCodeAlone: false };
    throw new AuthError("refused", "the pasted address holds no code; paste the one the browser ended at");
  }
  const query = new URLSearchParams(input.replace(/^[?#]/, ""));
  if (isAnswer(query)) return { parameters: query, isCodeAlone: false };
  if (/^[A-Za-z0-9._~+/=%|:-]+$/.test(input)) {
    return { parameters: new URLSearchParams({ code: input }), isCodeAlone: true };
  }
  throw new AuthError("refused", "what was pasted is neither the address the browser ended at nor a code");
}

function isAnswer(parameters: URLSearchParams): boolean {
  return parameters.has("code") || parameters.has("error");
}
