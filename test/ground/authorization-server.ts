import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What the stub was asked, in order. */
export interface AuthorizationRequestSeen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface IssuedToken {
  readonly scope: string;
  readonly clientId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

type Answer =
  | { status?: number; type?: string; headers?: Record<string, string | string[]>; body: string | object }
  | undefined;

/** How the stub differs from one that does everything right and forgives nothing. */
export interface AuthorizationOptions {
  /** Path of the issuer. */
  path?: string;
  /** Changes its metadata; a field that becomes undefined is left out. */
  metadata?: Record<string, unknown>;
  /** Where the metadata is; default: the first place of the specification. */
  metadataPath?: string | false;
  /** Lifetime of access tokens, seconds. */
  lifetimeS?: number;
  /** Whether it hands out refresh tokens; `offline`: for `offline_access` alone. */
  refresh?: boolean | "offline";
  rotates?: boolean;
  /** Whether requests have to say what the tokens are for; default true. */
  wantsResource?: boolean;
  /** Parameters it knows beside those of the specification. */
  knows?: readonly string[];
  /** Before it answers a token request. */
  tokenDelayMs?: number;
  /** A page with "Allow" and "Deny", where a person decides; without it everybody agrees at once. */
  consent?: boolean;
  /** Parameters of the answer at the callback: what is undefined is left out. */
  callback?: (parameters: Record<string, string>) => Record<string, string | undefined>;
  /** Instead of the stub's own answers; `reset` cuts the connection. */
  onToken?: (form: URLSearchParams, request: AuthorizationRequestSeen) => Answer | "reset";
  onRegister?: (metadata: Record<string, unknown>) => Answer;
  /** The method it takes, whatever it says and registers. */
  takesMethod?: string;
}

interface Client {
  readonly id: string;
  readonly secret: string | undefined;
  readonly method: string;
  readonly redirectUris: readonly string[];
}

/** What it knows of a request; anything else is refused, though the specification lets it pass. */
const AUTHORIZE = [
  ...["response_type", "client_id", "redirect_uri", "state", "scope", "prompt", "resource"],
  ...["code_challenge", "code_challenge_method"],
];
const CLIENT = ["client_id", "client_secret", "client_assertion", "client_assertion_type"];
const TOKEN: Readonly<Record<string, readonly string[]>> = {
  authorization_code: [...CLIENT, "grant_type", "code", "redirect_uri", "code_verifier", "resource"],
  refresh_token: [...CLIENT, "grant_type", "refresh_token", "resource", "scope"],
  client_credentials: [...CLIENT, "grant_type", "resource", "scope"],
};
const REVOKE = [...CLIENT, "token", "token_type_hint"];
const REGISTER = [
  ...["client_name", "client_uri", "redirect_uris", "grant_types", "response_types", "application_type", "scope"],
  "token_endpoint_auth_method",
];

/** What is wrong with the names of parameters. */
function oddName(given: URLSearchParams, known: readonly string[]): string | undefined {
  const names = [...given.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `${twice} is there twice`;
  const unknown = names.find((name) => !known.includes(name));
  return unknown === undefined ? undefined : `${unknown} is not known`;
}

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly scope: string;
  readonly resource: string | null;
}

/** An authorization server that is strict: every request is checked, a refresh token that comes twice ends the grant. */
export interface AuthorizationStub {
  readonly issuer: string;
  readonly origin: string;
  readonly options: AuthorizationOptions;
  readonly requests: AuthorizationRequestSeen[];
  readonly tokens: Map<string, IssuedToken>;
  readonly clients: Map<string, Client>;
  readonly refreshTokens: Map<string, Grant>;
  /** Everything that must appear nowhere. */
  readonly secrets: Set<string>;
  /** What it refused, and why. */
  readonly refusals: string[];
  seen(path: string): AuthorizationRequestSeen[];
  /** Token requests of a grant. */
  grants(type: string): URLSearchParams[];
  close(): Promise<void>;
}

export async function authorizationServer(options: AuthorizationOptions = {}): Promise<AuthorizationStub> {
  const requests: AuthorizationRequestSeen[] = [];
  const tokens = new Map<string, IssuedToken>();
  const clients = new Map<string, Client>();
  const codes = new Map<string, Grant>();
  const usedCodes = new Set<string>();
  /** Requests of a browser that wait for a person. */
  const waiting = new Map<string, URLSearchParams>();
  const refreshTokens = new Map<string, Grant>();
  const used = new Map<string, Grant>();
  const secrets = new Set<string>();
  const refusals: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const { origin, close } = await listen(server);
  const issuer = `${origin}${options.path ?? ""}`;

  const secret = (kind: string): string => {
    const value = `planted-${kind}-${randomUUID()}`;
    secrets.add(value);
    return value;
  };

  function metadata(): Record<string, unknown> {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/register`,
      revocation_endpoint: `${issuer}/revoke`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
      authorization_response_iss_parameter_supported: true,
      ...options.metadata,
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", origin);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    const seen = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
    };
    requests.push(seen);
    const place = options.metadataPath ?? `/.well-known/oauth-authorization-server${options.path ?? ""}`;
    if (url.pathname === place) return send(response, { body: metadata() });
    switch (url.pathname.slice((options.path ?? "").length)) {
      case "/register":
        return send(response, register(JSON.parse(body) as Record<string, unknown>));
      case "/authorize":
        return authorize(url.searchParams, response);
      case "/decide":
        return decide(new URLSearchParams(body), response);
      case "/token": {
        const form = new URLSearchParams(body);
        await sleep(options.tokenDelayMs ?? 0);
        const own = options.onToken?.(form, seen);
        if (own === "reset") return void request.socket.resetAndDestroy();
        return send(response, own ?? token(form, seen));
      }
      case "/revoke":
        return send(response, revoke(new URLSearchParams(body), seen));
      default:
        return send(response, { status: 404, body: "not here" });
    }
  }

  function refuse(error: string, why: string, status = 400): Answer {
    refusals.push(`${error}: ${why}`);
    return { status, body: { error, error_description: why } };
  }

  function register(given: Record<string, unknown>): Answer {
    const own = options.onRegister?.(given);
    if (own) return own;
    const uris = given.redirect_uris as string[];
    const odd = Object.keys(given).find((name) => !REGISTER.includes(name));
    if (odd !== undefined) return refuse("invalid_client_metadata", `${odd} is not known`);
    if (String(given.response_types) !== "code") return refuse("invalid_client_metadata", "response_types");
    if (String(given.grant_types) !== "authorization_code,refresh_token") {
      return refuse("invalid_client_metadata", "grant_types");
    }
    if (given.application_type !== "native") return refuse("invalid_client_metadata", "application_type");
    if (!Array.isArray(uris) || uris.length !== 1) return refuse("invalid_redirect_uri", "one redirect_uri is wanted");
    const method = String(given.token_endpoint_auth_method);
    if (!(metadata().token_endpoint_auth_methods_supported as string[] | undefined)?.includes(method)) {
      return refuse("invalid_client_metadata", `token_endpoint_auth_method ${method}`);
    }
    const id = `client-${randomUUID()}`;
    const clientSecret = method === "none" ? undefined : secret("client-secret");
    clients.set(id, { id, secret: clientSecret, method, redirectUris: uris });
    const answered = { ...given, client_id: id, ...(clientSecret && { client_secret: clientSecret }) };
    return { status: 201, body: answered };
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const client = clients.get(query.get("client_id") ?? "");
    const redirectUri = query.get("redirect_uri") ?? "";
    const why = !client
      ? "unknown client"
      : !client.redirectUris.includes(redirectUri)
        ? "redirect_uri is not registered"
        : query.get("response_type") !== "code"
          ? "response_type"
          : query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(query.get("code_challenge") ?? "")
            ? "no PKCE"
            : !query.get("state")
              ? "no state"
              : options.wantsResource !== false && !query.get("resource")
                ? "no resource"
                : oddName(query, [...AUTHORIZE, ...(options.knows ?? [])]);
    if (why !== undefined || !client) {
      refusals.push(`authorize: ${why}`);
      send(response, { status: 400, body: String(why) });
      return;
    }
    if (options.consent === true) askPerson(query, response);
    else answerBrowser(query, response);
  }

  function askPerson(query: URLSearchParams, response: ServerResponse): void {
    const id = randomUUID();
    waiting.set(id, query);
    const button = (label: string) => `<button name="decision" value="${label}">${label}</button>`;
    const form = `<form method="post" action="${issuer}/decide"><input type="hidden" name="id" value="${id}">`;
    const page = `<!doctype html><title>Consent</title><h1>Let pi-mcp in?</h1>${form}${button("Allow")}${button("Deny")}</form>`;
    send(response, { type: "text/html", body: page });
  }

  function decide(form: URLSearchParams, response: ServerResponse): void {
    const id = form.get("id") ?? "";
    const query = waiting.get(id);
    waiting.delete(id);
    if (!query) send(response, { status: 400, body: "This was decided before." });
    else if (form.get("decision") === "Allow") answerBrowser(query, response);
    else redirect(query, { error: "access_denied", error_description: "The person <b>said</b> no" }, response);
  }

  function answerBrowser(query: URLSearchParams, response: ServerResponse): void {
    const code = secret("code");
    codes.set(code, {
      clientId: query.get("client_id") ?? "",
      redirectUri: query.get("redirect_uri") ?? "",
      challenge: query.get("code_challenge") ?? "",
      scope: query.get("scope") ?? "",
      resource: query.get("resource"),
    });
    redirect(query, { code }, response);
  }

  function redirect(query: URLSearchParams, said: Record<string, string>, response: ServerResponse): void {
    const usual = { ...said, state: query.get("state") ?? "", iss: issuer };
    const target = new URL(query.get("redirect_uri") ?? "");
    for (const [name, value] of Object.entries(options.callback?.(usual) ?? usual)) {
      if (value !== undefined) target.searchParams.set(name, value);
    }
    send(response, { status: 302, headers: { location: target.href }, body: "" });
  }

  function token(form: URLSearchParams, seen: AuthorizationRequestSeen): Answer {
    if (seen.headers["content-type"]?.split(";")[0] !== "application/x-www-form-urlencoded") {
      return refuse("invalid_request", "content-type");
    }
    const client = authenticate(form, seen);
    if (typeof client === "string") return refuse("invalid_client", client, 401);
    const type = form.get("grant_type");
    const odd = oddName(form, TOKEN[String(type)] ?? []);
    if (odd !== undefined && type !== null && type in TOKEN) return refuse("invalid_request", odd);
    if (options.wantsResource !== false && !form.get("resource")) return refuse("invalid_target", "no resource");
    if (type === "client_credentials") return issue(client.id, form.get("scope") ?? "", undefined);
    if (type === "authorization_code") {
      const code = form.get("code") ?? "";
      const grant = codes.get(code);
      if (!grant && usedCodes.has(code)) {
        // A code that comes twice was stolen: what it was changed for ends (RFC 6749 section 4.1.2).
        endAll(client.id);
        return refuse("invalid_grant", "a code was used twice");
      }
      codes.delete(code);
      usedCodes.add(code);
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      secrets.add(form.get("code_verifier") ?? "");
      if (!grant || grant.clientId !== client.id) return refuse("invalid_grant", "unknown code");
      if (grant.redirectUri !== form.get("redirect_uri")) return refuse("invalid_grant", "another redirect_uri");
      if (grant.challenge !== challenge) return refuse("invalid_grant", "PKCE");
      if (grant.resource !== form.get("resource")) return refuse("invalid_target", "another resource");
      return issue(client.id, grant.scope, grant);
    }
    if (type === "refresh_token") {
      const given = form.get("refresh_token") ?? "";
      const grant = refreshTokens.get(given);
      if (!grant && used.has(given)) {
        // A token that comes twice was stolen: the whole grant ends (OAuth 2.1, section 4.3.1).
        endAll(client.id);
        return refuse("invalid_grant", "a refresh token was used twice");
      }
      if (!grant || grant.clientId !== client.id) return refuse("invalid_grant", "unknown refresh token");
      if (grant.resource !== form.get("resource")) return refuse("invalid_target", "another resource");
      if (options.rotates === false) return issue(client.id, grant.scope, undefined);
      refreshTokens.delete(given);
      used.set(given, grant);
      return issue(client.id, grant.scope, grant);
    }
    return refuse("unsupported_grant_type", String(type));
  }

  function endAll(clientId: string): void {
    for (const [each, of] of refreshTokens) if (of.clientId === clientId) refreshTokens.delete(each);
    for (const [each, of] of tokens) if (of.clientId === clientId) tokens.delete(each);
  }

  function revoke(form: URLSearchParams, seen: AuthorizationRequestSeen): Answer {
    const client = authenticate(form, seen);
    if (typeof client === "string") return refuse("invalid_client", client, 401);
    const odd = oddName(form, REVOKE);
    if (odd !== undefined) return refuse("invalid_request", odd);
    const given = form.get("token") ?? "";
    const isRefresh = refreshTokens.get(given)?.clientId === client.id;
    refreshTokens.delete(given);
    if (tokens.get(given)?.clientId === client.id) tokens.delete(given);
    // RFC 7009 section 2.1: with a refresh token, what was issued by it.
    if (isRefresh) endAll(client.id);
    return { body: "" };
  }

  /** The client, or what is wrong. Never two ways at once (RFC 6749 section 2.3). */
  function authenticate(form: URLSearchParams, { headers }: AuthorizationRequestSeen): Client | string {
    const basic = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1];
    const [id = "", basicSecret = ""] =
      basic === undefined
        ? []
        : Buffer.from(basic, "base64")
            .toString("utf8")
            .split(":")
            .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    const ways = [basic !== undefined, form.has("client_secret")].filter(Boolean).length;
    if (ways > 1) return "two ways at once";
    const client = clients.get(basic === undefined ? (form.get("client_id") ?? "") : id);
    if (!client) return "unknown client";
    const method =
      basic !== undefined ? "client_secret_basic" : form.has("client_secret") ? "client_secret_post" : "none";
    if (method !== (options.takesMethod ?? client.method)) return `shown by ${method}`;
    const given = basic === undefined ? (form.get("client_secret") ?? undefined) : basicSecret;
    return given === client.secret ? client : "wrong secret";
  }

  function issue(clientId: string, scope: string, grant: Grant | undefined): Answer {
    const accessToken = secret("access-token");
    const lifetimeS = options.lifetimeS ?? 3600;
    tokens.set(accessToken, { scope, clientId, expiresAt: Date.now() + lifetimeS * 1000 });
    const wants =
      options.refresh === "offline" ? scope.split(" ").includes("offline_access") : options.refresh !== false;
    const refreshToken = grant && wants ? secret("refresh-token") : undefined;
    if (grant && refreshToken) refreshTokens.set(refreshToken, grant);
    return {
      body: {
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: lifetimeS,
        ...(scope !== "" && { scope }),
        ...(refreshToken && { refresh_token: refreshToken }),
      },
    };
  }

  return {
    ...{ issuer, origin, options, requests, tokens, clients, refreshTokens, secrets, refusals, close },
    seen: (path) => requests.filter((request) => request.path === path),
    grants: (type) =>
      requests
        .filter(({ path }) => path === `${options.path ?? ""}/token`)
        .map(({ body }) => new URLSearchParams(body))
        .filter((form) => form.get("grant_type") === type),
  };
}

export interface ProtectedOptions {
  authorization: AuthorizationStub;
  /** `resource` of its metadata; undefined: its own address. */
  resource?: string;
  /** Changes its metadata. */
  metadata?: Record<string, unknown>;
  /** Where its metadata is. */
  metadataPath?: string | false;
  /** Values of `WWW-Authenticate`; default: one that names the metadata. */
  challenges?: (metadataUrl: string) => string[];
  /** Scope that `tools/call` needs. */
  callScope?: string;
  path?: string;
  /** Paths that take a request and never answer. */
  silent?: (path: string) => boolean;
  /** Before it answers a message. */
  delayMs?: number;
}

/**
 * An MCP server (2025-11-25) whose tool `echo` can be called by those who are signed in. Asked "who am I" it tells what it
 * was shown.
 */
export interface ProtectedServer {
  readonly url: string;
  readonly origin: string;
  readonly options: ProtectedOptions;
  /** Method and `Authorization` of each POST. */
  readonly requests: { readonly method: string; readonly authorization: string | undefined }[];
  readonly paths: string[];
  readonly calls: string[];
  /** Refuses these tokens, whatever their time. */
  readonly revoked: Set<string>;
  close(): Promise<void>;
}

export async function protectedServer(options: ProtectedOptions): Promise<ProtectedServer> {
  const requests: ProtectedServer["requests"] = [];
  const paths: string[] = [];
  const calls: string[] = [];
  const revoked = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  const { origin, close } = await listen(server);
  const path = options.path ?? "/mcp";
  const url = `${origin}${path}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", origin);
    paths.push(pathname);
    if (options.silent?.(pathname)) return;
    const metadataPath = options.metadataPath ?? `/.well-known/oauth-protected-resource${path}`;
    if (pathname === metadataPath) {
      const body = {
        resource: options.resource ?? url,
        authorization_servers: [options.authorization.issuer],
        ...options.metadata,
      };
      return send(response, { body });
    }
    if (pathname !== path) return send(response, { status: 404, body: "" });
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const metadataUrl = `${origin}${metadataPath}`;
    const challenges = options.challenges?.(metadataUrl) ?? [`Bearer resource_metadata="${metadataUrl}"`];
    const { authorization } = request.headers;
    const given = /^Bearer (.+)$/.exec(authorization ?? "")?.[1] ?? "";
    const token = options.authorization.tokens.get(given);
    if (request.method !== "POST") return send(response, { status: 405, body: "" });
    const message = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
      id?: number;
      method: string;
      params?: { arguments?: { text?: string } };
    };
    requests.push({ method: message.method, authorization });
    if (!token || token.expiresAt <= Date.now() || revoked.has(given)) {
      return send(response, { status: 401, headers: { "www-authenticate": challenges }, body: "" });
    }
    await sleep(options.delayMs ?? 0);
    const { callScope } = options;
    if (message.method === "tools/call" && callScope && !token.scope.split(" ").includes(callScope)) {
      const insufficient = `Bearer error="insufficient_scope", scope="${callScope}", resource_metadata="${metadataUrl}"`;
      return send(response, {
        status: 403,
        headers: { "www-authenticate": ['Basic realm="x"', insufficient] },
        body: "",
      });
    }
    if (message.id === undefined) return send(response, { status: 202, body: "" });
    const result = resultOf(message.method, message.params?.arguments?.text, authorization);
    const body = result ? { result } : { error: { code: -32601, message: "no such method" } };
    send(response, { body: { jsonrpc: "2.0", id: message.id, ...body } });
  }

  function resultOf(method: string, text = "", authorization = ""): object | undefined {
    if (method === "initialize") {
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "protected", version: "1" },
      };
    }
    if (method === "tools/list") return { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
    if (method !== "tools/call") return undefined;
    calls.push(text);
    return { content: [{ type: "text", text: `echo ${text === "who am I" ? authorization : text}` }] };
  }

  return { url, origin, options, requests, paths, calls, revoked, close };
}

function send(
  response: ServerResponse,
  { status = 200, type = "application/json", headers, body }: NonNullable<Answer> = { body: "" },
): void {
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function listen(server: Server): Promise<{ origin: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
