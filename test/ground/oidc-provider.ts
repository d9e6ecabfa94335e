import { createHash, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
// @ts-expect-error: it comes without types.
import { errors, Provider } from "oidc-provider";

/** Lifetimes in seconds; a long time where nothing is said. */
export interface OidcOptions {
  readonly accessTokenS?: number;
  readonly refreshTokenS?: number;
  readonly codeS?: number;
  /** Clients that were registered by hand. */
  readonly clients?: readonly object[];
  /** By address: the documents of clients that are known by one. */
  readonly clientDocuments?: Readonly<Record<string, object>>;
  /** Every proof of a key has to hold a nonce. */
  readonly nonces?: boolean;
  /** Scope that a call needs. */
  readonly callScope?: string;
}

interface Token {
  readonly isExpired: boolean;
  readonly aud: unknown;
  readonly jkt?: string;
  readonly scope?: string;
  destroy(): Promise<void>;
}

/** A stored thing of the authorization server, by its value. */
interface Model {
  find(value: string): Promise<Token | undefined>;
}

/** An MCP server made with the official SDK, and the authorization server it trusts, which is the package `oidc-provider`. */
export interface OidcPlace {
  /** Of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** In order: what was granted and refused, as `grant refresh_token`, `grant refused: …`, `registered`, … */
  readonly events: string[];
  /** Texts of the calls that were made. */
  readonly calls: string[];
  /** Requests to the MCP server: whether they were let in, and their method. */
  readonly requests: string[];
  /** What each token was shown as: `Bearer` or `DPoP`. */
  readonly schemes: Set<string>;
  accessToken(value: string): Promise<Token | undefined>;
  refreshToken(value: string): Promise<Token | undefined>;
  close(): Promise<void>;
}

const SCOPES = ["read", "write"];
const LONG_S = 3600;

export async function oidcPlace(options: OidcOptions = {}): Promise<OidcPlace> {
  const events: string[] = [];
  const calls: string[] = [];
  const requests: string[] = [];
  const schemes = new Set<string>();
  const [authorization, resource] = [await listening(), await listening()];
  const issuer = authorization.origin;
  const url = `${resource.origin}/mcp`;
  const provider = quietly(() => new Provider(issuer, configuration(options, url)));
  authorization.answer(provider.callback());

  type Ctx = { oidc: { params: Record<string, string>; entities?: Record<string, unknown> } };
  provider.on("registration_create.success", () => events.push("registered"));
  provider.on("authorization.success", () => events.push("authorized"));
  provider.on("authorization.error", (_: Ctx, error: Error) => events.push(`not authorized: ${saidBy(error)}`));
  provider.on("grant.success", ({ oidc }: Ctx) => events.push(`grant ${oidc.params.grant_type}`));
  provider.on("grant.error", ({ oidc }: Ctx, error: Error) =>
    events.push(`grant ${oidc.params?.grant_type} refused: ${saidBy(error)}`),
  );
  provider.on("grant.revoked", () => events.push("grant revoked"));
  provider.on("server_error", (_: Ctx, error: Error) => events.push(`broken: ${error.stack}`));

  const { AccessToken, ClientCredentials, RefreshToken } = provider as Record<string, Model>;
  const accessToken = async (value: string) =>
    (await AccessToken?.find(value)) ?? (await ClientCredentials?.find(value));
  const metadataUrl = `${resource.origin}/.well-known/oauth-protected-resource/mcp`;
  const mcp = toNodeHandler(createMcpHandler(() => echoServer(calls)));

  resource.answer(async (request, response) => {
    const reply = (status: number, headers: Record<string, string>, body: object = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    if (request.url === new URL(metadataUrl).pathname) {
      return void reply(200, {}, { resource: url, authorization_servers: [issuer], scopes_supported: [SCOPES[0]] });
    }
    const parts = await request.toArray();
    const body = parts.length === 0 ? undefined : (JSON.parse(Buffer.concat(parts).toString()) as { method?: string });
    const [scheme = "", value = ""] = (request.headers.authorization ?? "").split(" ");
    const token = await accessToken(value);
    const isBound = token?.jkt === undefined || token.jkt === thumbprintOf(request.headers.dpop);
    const isIn = token !== undefined && !token.isExpired && token.aud === url && isBound;
    requests.push(`${isIn ? "let in" : "refused"} ${body?.method}`);
    if (!isIn) {
      return void reply(401, { "www-authenticate": `Bearer resource_metadata="${metadataUrl}"` });
    }
    schemes.add(scheme);
    const { callScope } = options;
    if (body?.method === "tools/call" && callScope && !token.scope?.split(" ").includes(callScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${callScope}", resource_metadata="${metadataUrl}"`;
      return void reply(403, { "www-authenticate": challenge });
    }
    await mcp(request as NodeIncomingMessageLike, response, body);
  });

  return {
    ...{ url, issuer, events, calls, requests, schemes, accessToken },
    refreshToken: async (value) => RefreshToken?.find(value),
    close: async () => {
      await authorization.close();
      await resource.close();
    },
  };
}

function saidBy(error: Error & { error_detail?: string }): string {
  return error.error_detail ?? error.message;
}

function configuration(options: OidcOptions, url: string): object {
  const { accessTokenS = LONG_S, refreshTokenS = LONG_S, codeS = 60 } = options;
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    clients: options.clients ?? [],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    cookies: { keys: ["of this run"] },
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "ES256" }] },
    scopes: ["offline_access", ...SCOPES],
    responseTypes: ["code"],
    pkce: { required: () => true },
    // Which is the default for clients without a secret; here for all.
    rotateRefreshToken: true,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    ttl: {
      AccessToken: accessTokenS,
      AuthorizationCode: codeS,
      ClientCredentials: accessTokenS,
      RefreshToken: refreshTokenS,
      ...{ Grant: LONG_S, Interaction: LONG_S, Session: LONG_S, IdToken: LONG_S },
    },
    features: {
      // Its own pages: a login that takes any name, a consent, and a link that cancels.
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      clientCredentials: { enabled: true },
      dPoP: {
        enabled: true,
        ...(options.nonces && { nonceSecret: Buffer.alloc(32, "n"), requireNonce: () => true }),
      },
      ...(options.clientDocuments && { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } }),
      resourceIndicators: {
        enabled: true,
        // A client has to say what the tokens are for, and for no other thing is there one.
        defaultResource: () => undefined,
        useGrantedResource: () => false,
        getResourceServerInfo(_: unknown, indicator: string) {
          if (indicator !== url) throw new errors.InvalidTarget();
          return { scope: SCOPES.join(" "), audience: url, accessTokenFormat: "opaque" };
        },
      },
    },
    fetch: async (address: string | URL) => {
      const document = options.clientDocuments?.[String(address)];
      return document === undefined ? new Response("", { status: 404 }) : Response.json(document);
    },
  };
}

/** It says on the console that its pages are for tests, which is what they are used for. */
function quietly<T>(work: () => T): T {
  const { info, warn } = console;
  Object.assign(console, { info: () => {}, warn: () => {} });
  try {
    return work();
  } finally {
    Object.assign(console, { info, warn });
  }
}

function echoServer(calls: string[]): Server {
  const server = new Server({ name: "protected", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "echo", inputSchema: { type: "object" as const } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const text = String(params.arguments?.text);
    calls.push(text);
    return { content: [{ type: "text" as const, text: `echo ${text}` }] };
  });
  return server;
}

/** Of the key in a proof (RFC 7638, RFC 9449 section 6.1). Its signature is the authorization server's to check. */
function thumbprintOf(proof: string | string[] | undefined): string | undefined {
  const [header] = String(proof ?? "").split(".");
  if (!header) return undefined;
  const { jwk } = JSON.parse(Buffer.from(header, "base64url").toString()) as { jwk: Record<string, string> };
  const { crv, kty, x, y } = jwk;
  return createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Listens first, since the address is part of what is served. */
async function listening(): Promise<{ origin: string; answer(how: Answer): void; close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    answer: (how) => void server.on("request", how),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
