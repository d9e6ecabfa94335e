import { readFileSync } from "node:fs";
import { isObject } from "../is-object.ts";
import { jsonObject } from "./json-object.ts";
import { type Credentials, type StoredClient, type StoredTokens, tokenFile } from "./store.ts";

/** Programs whose sign-ins can be taken over. */
export const FOREIGN_PROGRAMS = ["pi", "pi-mcp-adapter", "mcporter"] as const;
export type ForeignProgram = (typeof FOREIGN_PROGRAMS)[number];

/** Where they keep them. */
export interface ForeignPlaces {
  readonly pi: string;
  readonly mcporter: string;
  /** Folders of pi's adapter other than our own, whose files are read as they are. */
  readonly adapterFolders: readonly string[];
}

/** A sign-in another program has stored. */
export interface ForeignCredentials {
  readonly program: ForeignProgram;
  /** What the server is called there. */
  readonly name: string;
  readonly credentials: Credentials;
}

/** All of one program for an address, whatever the server is called there. What has another form is not there. */
export function readForeign(
  program: ForeignProgram,
  places: ForeignPlaces,
  server: { readonly name: string; readonly url: string },
): ForeignCredentials[] {
  const all =
    program === "pi"
      ? readPi(places.pi)
      : program === "mcporter"
        ? readMcporter(places.mcporter)
        : readAdapter(places.adapterFolders, server.name);
  return all
    .filter(({ credentials }) => credentials.tokens && sameAddress(credentials.serverUrl, server.url))
    .map((each) => ({ ...each, program, credentials: { ...each.credentials, serverUrl: server.url } }));
}

type Read = Omit<ForeignCredentials, "program">;
type Raw = Readonly<Record<string, unknown>>;

/** `{"mcp__name|https://…": {serverUrl, tokens, tokensExpireAt, clientInformation, discovery}}`; older keys are addresses alone. */
function readPi(file: string): Read[] {
  return entriesOf(readObject(file)).map(([key, state]) => {
    const expiresAt = typeof state.tokensExpireAt === "number" ? Math.floor(state.tokensExpireAt / 1000) : undefined;
    const discovery = objectIn(state, "discovery");
    const as = objectIn(discovery, "authorizationServerMetadata");
    const resource = textIn(objectIn(discovery, "resourceMetadata"), "resource");
    const bar = key.indexOf("|");
    return {
      name: bar === -1 ? "" : key.slice(0, bar).replace(/^mcp__/, ""),
      credentials: {
        serverUrl: textIn(state, "serverUrl") ?? key.slice(bar + 1),
        tokens: tokensOf(objectIn(state, "tokens"), expiresAt),
        clientInfo: clientOf(objectIn(state, "clientInformation"), textIn(as, "issuer")),
        // Both or none: what is not known is looked for when it is needed.
        ...(typeof as.issuer === "string" &&
          typeof as.token_endpoint === "string" &&
          resource !== undefined && { authorizationServer: as, resource }),
      },
    };
  });
}

/** `{version: 1, entries: {…: {serverName, serverUrl, tokens, clientInfo, updatedAt}}}`. */
function readMcporter(file: string): Read[] {
  return entriesOf(objectIn(readObject(file), "entries")).map(([, entry]) => {
    const tokens = objectIn(entry, "tokens");
    const since = Date.parse(textIn(entry, "updatedAt") ?? "");
    const expiresAt = Math.floor(since / 1000 + Number(tokens.expires_in));
    return {
      name: textIn(entry, "serverName") ?? "",
      credentials: {
        serverUrl: textIn(entry, "serverUrl") ?? "",
        tokens: tokensOf(tokens, Number.isFinite(expiresAt) ? expiresAt : undefined),
        clientInfo: clientOf(objectIn(entry, "clientInfo"), undefined),
      },
    };
  });
}

/** Our own layout. */
function readAdapter(folders: readonly string[], name: string): Read[] {
  return folders.flatMap((folder) => {
    const raw = readObject(tokenFile(folder, name));
    const [tokens, client] = [objectIn(raw, "tokens"), objectIn(raw, "clientInfo")];
    return {
      name,
      credentials: {
        serverUrl: textIn(raw, "serverUrl") ?? "",
        ...(textIn(tokens, "accessToken") && { tokens: tokens as StoredTokens }),
        ...(textIn(client, "clientId") && { clientInfo: client as StoredClient }),
      },
    };
  });
}

/** RFC 6749 section 5.1. */
function tokensOf(raw: Raw, expiresAt: number | undefined): StoredTokens | undefined {
  const [accessToken, refreshToken] = [textIn(raw, "access_token"), textIn(raw, "refresh_token")];
  // A token that is bound to a key of another program is of no use without it.
  if (accessToken === undefined || textIn(raw, "token_type")?.toLowerCase() === "dpop") return undefined;
  const scope = textIn(raw, "scope");
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(scope !== undefined && { scope }),
  };
}

/** RFC 7591 section 3.2.1. */
function clientOf(raw: Raw, issuer: string | undefined): StoredClient | undefined {
  const clientId = textIn(raw, "client_id");
  if (clientId === undefined) return undefined;
  const clientSecret = textIn(raw, "client_secret");
  const tokenEndpointAuthMethod = textIn(raw, "token_endpoint_auth_method");
  const uris = Array.isArray(raw.redirect_uris) ? raw.redirect_uris.filter((uri) => typeof uri === "string") : [];
  return {
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(tokenEndpointAuthMethod !== undefined && { tokenEndpointAuthMethod }),
    ...(uris.length > 0 && { redirectUris: uris as string[] }),
    ...(issuer !== undefined && { issuer }),
  };
}

function sameAddress(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

/** Nothing where there is no such file, or none with an object in it. Throws the system's other errors. */
function readObject(file: string): Raw {
  try {
    return jsonObject(readFileSync(file, "utf8")) ?? {};
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw error;
  }
}

function entriesOf(raw: Raw): [string, Raw][] {
  return Object.entries(raw).filter((entry): entry is [string, Raw] => isObject(entry[1]));
}

function objectIn(raw: Raw, field: string): Raw {
  const value = Object.hasOwn(raw, field) ? raw[field] : undefined;
  return isObject(value) ? value : {};
}

function textIn(raw: Raw, field: string): string | undefined {
  const value = Object.hasOwn(raw, field) ? raw[field] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
