import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ORIGINS } from "../../src/config/origins.ts";
import { Authorization } from "../../src/server/authorization.ts";
import { join as joinServer } from "../oracle/join.ts";
import { afterwards, answerOf, browse, call, type Place, place } from "./open.ts";

const FOLDER = `sha256-${createHash("sha256").update("s").digest("hex")}`;
const stored = ({ home }: Place) =>
  JSON.parse(readFileSync(join(home.agentDir, "mcp-oauth", FOLDER, "tokens.json"), "utf8")) as Record<
    string,
    Record<string, unknown>
  >;
const start = ({ session }: Place) => session.signIn("s").start();
const authorizeQuery = async (here: Place) => {
  const flow = await start(here);
  flow.cancel("seen");
  return new URL(flow.url).searchParams;
};

describe("where to sign in", () => {
  test("[E092] the metadata at the root, where the challenge names it or not", async () => {
    for (const challenges of [undefined, () => ["Bearer"]]) {
      const here = await place({
        server: { metadataPath: "/.well-known/oauth-protected-resource", ...(challenges && { challenges }) },
      });
      await here.signIn();
      expect(await call(here.session)).toBe("echo hi");
    }
  });

  test("[E092] a challenge that names a place where nothing is does not end the search", async () => {
    const here = await place({ server: { challenges: (url) => [`Bearer resource_metadata="${url}/nothing"`] } });
    await here.signIn();
    expect(here.server.paths).toContain("/.well-known/oauth-protected-resource/mcp/nothing");
  });

  test("[E281] the Bearer challenge counts wherever it stands among others", async () => {
    const values = [
      (url: string) => [`Basic realm="x", Bearer resource_metadata="${url}"`],
      (url: string) => ['Basic realm="a, Bearer b"', `Bearer realm="y" , resource_metadata="${url}"`],
      (url: string) => ["Negotiate abc==", `bearer resource_metadata=${url}`],
    ];
    for (const challenges of values) {
      const here = await place({ server: { metadataPath: "/elsewhere/metadata", challenges } });
      await here.signIn();
    }
  });

  test.each([
    ["/.well-known/oauth-authorization-server/login/oauth"],
    ["/.well-known/openid-configuration/login/oauth"],
    ["/login/oauth/.well-known/openid-configuration"],
  ])("[E094] an issuer with a path has its metadata at %s", async (metadataPath) => {
    const here = await place({ authorization: { path: "/login/oauth", metadataPath } });
    await here.signIn();
    const asked = here.authorization.requests.map(({ path }) => path).filter((path) => path.includes("well-known"));
    const order = [
      "/.well-known/oauth-authorization-server/login/oauth",
      "/.well-known/openid-configuration/login/oauth",
      "/login/oauth/.well-known/openid-configuration",
    ];
    expect(asked).toEqual(order.slice(0, order.indexOf(metadataPath) + 1));
  });

  test("[E095] with no metadata anywhere the usual places are tried, and then it is said clearly", async () => {
    const here = await place({ server: { metadataPath: false, challenges: () => ["Bearer"] } });
    await expect(start(here)).rejects.toThrow(
      /it names no authorization server, and there is none at the usual places/,
    );
    expect(here.server.paths).toContain("/register");
  });

  test("[E097] the resource is sent byte for byte, without a slash more", async () => {
    const here = await place({ server: { path: "/", metadataPath: "/.well-known/oauth-protected-resource" } });
    here.server.options.resource = here.server.origin;
    expect((await authorizeQuery(here)).get("resource")).toBe(here.server.origin);
    await here.signIn();
    expect(here.authorization.grants("authorization_code").map((form) => form.get("resource"))).toEqual([
      here.server.origin,
    ]);
  });

  test.each<[string, (origin: string) => string, boolean]>([
    ["the origin", (origin) => origin, true],
    ["a part of the path", (origin) => `${origin}/deep`, true],
    ["another path", (origin) => `${origin}/dee`, false],
    ["a deeper path", (origin) => `${origin}/deep/mcp/more`, false],
    ["another host", () => "https://evil.example", false],
    ["no address", () => "urn:x", false],
  ])("[E098] a resource that is %s", async (_, resource, isTaken) => {
    const here = await place({ server: { path: "/deep/mcp" } });
    here.server.options.resource = resource(here.server.origin);
    if (isTaken) await here.signIn();
    else await expect(start(here)).rejects.toThrow(/that of another resource/);
  });

  test("metadata that names another issuer is not used", async () => {
    const here = await place({ authorization: { metadata: { issuer: "https://evil.example" } } });
    await expect(start(here)).rejects.toThrow(/names another issuer/);
  });

  test.each<[string, string]>([
    ["a javascript address", "javascript:alert(1)"],
    ["a file", "file:///etc/passwd"],
    ["a user in it", "https://a:$(calc)@example.com/authorize"],
    ["http elsewhere", "http://example.com/authorize"],
    ["no address at all", "&calc"],
  ])("[E232] an authorization endpoint that is %s is refused", async (_, endpoint) => {
    const here = await place({ authorization: { metadata: { authorization_endpoint: endpoint } } });
    await expect(start(here)).rejects.toThrow(/`authorization_endpoint` of its authorization server .* is not used/);
    expect(here.authorization.seen("/register")).toEqual([]);
  });

  test.each(["token_endpoint", "registration_endpoint"])(
    "[E233] a %s where clouds keep their secrets is refused",
    async (name) => {
      const here = await place({ authorization: { metadata: { [name]: "https://169.254.169.254/latest" } } });
      await expect(start(here)).rejects.toThrow(/lies at an address that is reserved/);
    },
  );
});

describe("what is asked for", () => {
  test("[E283] empty scopes are none", async () => {
    const here = await place({ server: { metadata: { scopes_supported: [""] } } });
    expect((await authorizeQuery(here)).has("scope")).toBe(false);
  });

  test("[E115] offline_access where it is listed, and what is configured", async () => {
    const here = await place({
      authorization: {
        refresh: "offline",
        knows: ["access_type"],
        metadata: { scopes_supported: ["read", "offline_access"] },
      },
      server: { metadata: { scopes_supported: ["read"] } },
      entry: { oauth: { authorizationParams: { access_type: "offline", state: "mine", prompt: "login" } } },
    });
    const query = await authorizeQuery(here);
    expect([query.get("scope"), query.get("access_type"), query.get("prompt")]).toEqual([
      "read offline_access",
      "offline",
      "login",
    ]);
    expect(query.get("state")).not.toBe("mine");
    await here.signIn();
    expect(stored(here).tokens?.refreshToken).toBeDefined();
  });

  test.each([undefined, [], ["plain"]])(
    "PKCE that is not advertised (%j) is refused, unless that is allowed",
    async (methods) => {
      const authorization = { metadata: { code_challenge_methods_supported: methods } };
      await expect(start(await place({ authorization }))).rejects.toThrow(/PKCE with S256.*allowMissingPkce/);
      const here = await place({ authorization, entry: { oauth: { allowMissingPkce: true } } });
      await here.signIn();
    },
  );

  test("[E116] an answer without the issuer that was promised is refused with that reason, unless that is allowed", async () => {
    const authorization = { callback: ({ code, state }: Record<string, string>) => ({ code, state }) };
    const here = await place({ authorization });
    const flow = await start(here);
    await browse(flow.url);
    await expect(flow.done).rejects.toThrow(
      /does not say which authorization server it comes from.*allowMissingIssuer/,
    );
    expect(here.authorization.seen("/token")).toEqual([]);
    const other = await place({ authorization, entry: { oauth: { allowMissingIssuer: true } } });
    await other.signIn();
  });
});

describe("who we are", () => {
  test("[E100] without registration it says what to set", async () => {
    const here = await place({ authorization: { metadata: { registration_endpoint: undefined } } });
    await expect(start(here)).rejects.toThrow(/registers no clients\. .*set "clientId"/);
  });

  test("[E100] a configured client is used, then a metadata document, then a registration", async () => {
    const url = "https://client.example/metadata.json";
    const metadata = { client_id_metadata_document_supported: true };
    const clientId = async (oauth: object, more = metadata) => {
      const here = await place({ authorization: { metadata: more as Record<string, unknown> }, entry: { oauth } });
      return [(await authorizeQuery(here)).get("client_id"), here.authorization.seen("/register").length];
    };
    expect(await clientId({ clientId: "mine", clientMetadataUrl: url, callbackPort: await freePort() })).toEqual([
      "mine",
      0,
    ]);
    expect(await clientId({ clientMetadataUrl: url })).toEqual([url, 0]);
    expect(await clientId({ clientMetadataUrl: url }, {} as typeof metadata)).toEqual([
      expect.stringMatching(/^client-/),
      1,
    ]);
  });

  test("[E104] a registration is used again with its port, and made anew when that is taken", async () => {
    const here = await place();
    await here.signIn();
    const [uri = ""] = (stored(here).clientInfo?.redirectUris ?? []) as string[];
    await here.signIn();
    expect([here.authorization.seen("/register").length, stored(here).clientInfo?.redirectUris]).toEqual([1, [uri]]);
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(Number(new URL(uri).port), "127.0.0.1", resolve));
    afterwards(blocker, () => new Promise((resolve) => blocker.close(resolve)));
    await here.signIn();
    expect(here.authorization.seen("/register")).toHaveLength(2);
    expect(here.authorization.refusals).toEqual([]);
  });

  test.each(["client_secret_basic", "client_secret_post", "none"])(
    "[E109] the client is shown as it was registered: %s",
    async (method) => {
      const here = await place({ authorization: { metadata: { token_endpoint_auth_methods_supported: [method] } } });
      await here.signIn();
      expect(stored(here).clientInfo?.tokenEndpointAuthMethod).toBe(method);
      expect(here.authorization.refusals).toEqual([]);
    },
  );

  test("[E109] [E110] a configured secret with odd signs arrives, by the way that is taken, which is remembered", async () => {
    const secret = "a:b%c d+ü/&=";
    const port = await freePort();
    const redirectUri = `http://localhost:${port}/callback`;
    for (const [says, takes] of [
      ["client_secret_basic", "client_secret_basic"],
      ["client_secret_basic", "client_secret_post"],
    ] as const) {
      const here = await place({
        authorization: {
          lifetimeS: 1,
          takesMethod: takes,
          metadata: { token_endpoint_auth_methods_supported: [says] },
        },
        entry: { oauth: { clientId: "my id", clientSecret: "${SECRET}", redirectUri } },
        env: { SECRET: secret },
      });
      here.authorization.clients.set("my id", { id: "my id", secret, method: takes, redirectUris: [redirectUri] });
      await here.signIn();
      const refused = here.authorization.refusals.length;
      await call(here.open());
      expect(here.authorization.grants("refresh_token").length).toBeGreaterThan(0);
      expect(here.authorization.refusals.length).toBe(refused);
      expect(refused).toBe(says === takes ? 0 : 1);
    }
  });

  test("[E109] a secret of a registration that names no method goes into the body", async () => {
    const here = await place({ authorization: { metadata: { token_endpoint_auth_methods_supported: undefined } } });
    const { clients } = here.authorization;
    here.authorization.options.onRegister = ({ redirect_uris: redirectUris }) => {
      const client = {
        id: "c",
        secret: "planted-s",
        method: "client_secret_post",
        redirectUris: redirectUris as string[],
      };
      clients.set("c", client);
      return { status: 201, body: { client_id: "c", client_secret: "planted-s", redirect_uris: redirectUris } };
    };
    await here.signIn();
    expect(here.authorization.refusals).toEqual([]);
  });
});

describe("odd answers of a token endpoint", () => {
  test("[E112] a form instead of JSON", async () => {
    const here = await place({
      authorization: {
        onToken: () => ({
          type: "application/x-www-form-urlencoded",
          body: "access_token=planted-form&token_type=bearer&scope=read",
        }),
      },
    });
    await here.signIn();
    expect(stored(here).tokens).toMatchObject({ accessToken: "planted-form", scope: "read" });
    const [request] = here.authorization.seen("/token");
    expect(request?.headers.accept).toBe("application/json");
  });

  test("[E113] an error with status 200", async () => {
    const here = await place({ authorization: { onToken: () => ({ body: { ok: false, error: "invalid_grant" } }) } });
    const flow = await start(here);
    // The browser shows what came of it, and not that there was an answer.
    expect((await browse(flow.url)).text).toContain(
      "Not signed in</h1><p>its authorization server refused (invalid_grant)",
    );
    await expect(flow.done).rejects.toThrow(/refused \(invalid_grant\)/);
  });

  test("no word of an authorization server brings a secret out", async () => {
    const here = await place({
      authorization: {
        onToken: (form) => ({
          status: 400,
          body: {
            error: "invalid_grant",
            error_description: `code ${form.get("code")} and ${form.get("code_verifier")}`,
          },
        }),
      },
    });
    const flow = await start(here);
    await browse(flow.url);
    const error = (await flow.done.catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain("invalid_grant: code *** and ***");
    for (const secret of here.authorization.secrets) expect(error.message).not.toContain(secret);
  });
});

describe("more scopes", () => {
  test("[E118] [E281] a 403 says what to do; the sign-in then asks for all, and for what is held already only once more", async () => {
    const here = await place({
      authorization: { metadata: { authorization_response_iss_parameter_supported: undefined } },
      server: { callScope: "write", challenges: (url) => [`Bearer scope="read", resource_metadata="${url}"`] },
    });
    await here.signIn();
    const session = here.open();
    await expect(call(session)).rejects.toMatchObject({
      category: "needs-auth",
      message: expect.stringMatching(
        /asks for more than this sign-in may do \(scope "write"\)\. Run \/mcp-auth login s/,
      ),
    });
    const flow = await session.signIn("s").start();
    expect(new URL(flow.url).searchParams.get("scope")?.split(" ").sort()).toEqual(["read", "write"]);
    await flow.complete(await answerOf(flow.url));
    expect(await call(session)).toBe("echo hi");
  });

  test("[E107] [E118] who asks by himself does so once for three 401s, and once more for a scope that is held", async () => {
    const here = await place({
      server: { callScope: "never", challenges: (url) => [`Bearer scope="never", resource_metadata="${url}"`] },
    });
    const opened: string[] = [];
    const target = { kind: "http", url: here.server.url, headers: {} } as const;
    const source = { file: "x", line: 1, column: 1 };
    const config = {
      name: "s",
      origin: "mcpjson",
      source,
      target,
      policy: ORIGINS.mcpjson,
      exposure: "gateway",
      fields: {},
    } as const;
    const authorization = new Authorization(config, here.home.env(), ({ url }) => {
      opened.push(url);
      void browse(url);
    });
    const auth = authorization.httpAuth(target);
    const connections = await Promise.all(
      [1, 2, 3].map(() => joinServer(target, { protocolVersion: "2025-11-25", handlers: {}, auth })),
    );
    expect(opened).toHaveLength(1);
    // From now on no scope is enough.
    here.server.options.callScope = "never and never";
    const calls = connections.map((connection) => connection.callTool("echo", {}, { timeoutMs: 10_000 }));
    const ended = await Promise.allSettled(calls);
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(opened.length).toBeLessThanOrEqual(3);
    for (const connection of connections) await connection.close();
  });
});

describe("without a person", () => {
  test("client credentials are asked for once, kept, and renewed by asking again", async () => {
    const oauth = { grantType: "client_credentials", clientId: "robot", clientSecret: "$ROBOT_SECRET", scope: "work" };
    const here = await place({
      authorization: { lifetimeS: 1 },
      entry: { oauth },
      env: { ROBOT_SECRET: "planted-robot" },
    });
    here.authorization.clients.set("robot", {
      ...{ id: "robot", secret: "planted-robot", method: "client_secret_basic", redirectUris: [] },
    });
    expect(await call(here.session)).toBe("echo hi");
    expect(await call(here.open())).toBe("echo hi");
    expect(here.authorization.grants("client_credentials").every((form) => form.get("scope") === "work")).toBe(true);
    await expect(start(here)).rejects.toThrow(/signed in to with the first request/);
    expect(JSON.stringify(stored(here))).not.toContain("planted-robot");
  });

  test("a client that is refused is told so, once", async () => {
    const oauth = {
      grantType: "client_credentials",
      clientId: "robot",
      clientSecret: "planted-wrong",
      tokenEndpointAuthMethod: "client_secret_post",
    };
    const here = await place({ entry: { oauth } });
    const error = (await call(here.session).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ category: "needs-auth", message: expect.stringContaining("invalid_client") });
    expect(error.message).not.toContain("planted-wrong");
  });
});

test("[E065] a 401 for the server's own stream is nobody's business where requests are answered", async () => {
  const server = createServer((request, response) => {
    if (request.method === "GET") return void response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk;
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      if (id === undefined) return void response.writeHead(202).end();
      const result =
        method === "initialize"
          ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "o", version: "1" } }
          : method === "tools/list"
            ? { tools: [{ name: "echo", inputSchema: { type: "object" } }] }
            : { content: [{ type: "text", text: "open" }] };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify(
          method === "server/discover"
            ? { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }
            : { jsonrpc: "2.0", id, result },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterwards(server, () => new Promise((resolve) => server.close(resolve)));
  const here = await place();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  here.home.write({ mcp: { mcpServers: { s: { url } } } });
  const session = here.open();
  expect(await call(session)).toBe("open");
  expect(session.status("s").state).toBe("ready");
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
