/** Signing in where the authorization server is the package `oidc-provider`, and the MCP server the official SDK's. */
import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { McpSession } from "../../src/session/session.ts";
import { type FormBrowser, formBrowser, type Page } from "../ground/form-browser.ts";
import { type OidcOptions, type OidcPlace, oidcPlace } from "../ground/oidc-provider.ts";
import { startCli } from "../ground/run-cli.ts";
import { until } from "../ground/wait.ts";
import { afterwards, call, homeOf, type Place, type PlaceOptions } from "./open.ts";
import { changeTokens, credentials, credentialsFile } from "./stored.ts";

interface Here extends Pick<Place, "home" | "open"> {
  readonly oidc: OidcPlace;
  readonly session: McpSession;
}

async function here(options: OidcOptions = {}, more: Pick<PlaceOptions, "entry" | "env"> = {}): Promise<Here> {
  const oidc = await oidcPlace(options);
  afterwards(oidc, () => oidc.close());
  const { home, open } = await homeOf(oidc.url, more);
  return { oidc, home, open, session: open() };
}

/** A person logs in, if asked, and agrees. Where the browser ended. */
async function agree(url: string, browser: FormBrowser = formBrowser()): Promise<Page> {
  let page = await browser.open(url);
  if (page.text.includes('value="login"')) page = await browser.submit(page, { login: "ada", password: "any" });
  return browser.submit(page);
}

async function signIn({ session }: Here, browser?: FormBrowser): Promise<void> {
  const flow = await session.signIn("s").start();
  expect((await agree(flow.url, browser)).text).toContain("Signed in");
  await flow.done;
}

const needsAuth = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ category: "needs-auth" });

describe("a person", () => {
  test("signs in: registered, with PKCE, for this resource, with the issuer in the answer", async () => {
    const at = await here();
    await needsAuth(call(at.session));
    const flow = await at.session.signIn("s").start();
    const query = new URL(flow.url).searchParams;
    expect([query.get("resource"), query.get("scope"), query.get("code_challenge_method")]).toEqual([
      at.oidc.url,
      "read offline_access",
      "S256",
    ]);
    const page = await agree(flow.url);
    expect(new URL(page.url).searchParams.get("iss")).toBe(at.oidc.issuer);
    await flow.done;
    expect(await call(at.session)).toBe("echo hi");
    const { tokens, clientInfo } = credentials(at.home);
    expect(await at.oidc.accessToken(tokens?.accessToken ?? "")).toMatchObject({ aud: at.oidc.url });
    expect([tokens?.scope, clientInfo?.issuer]).toEqual(["read", at.oidc.issuer]);
    expect(at.oidc.events).toEqual(["registered", "authorized", "grant authorization_code"]);
  });

  test("is asked once: tokens are renewed and the refresh token changes each time", async () => {
    const at = await here();
    await signIn(at);
    const seen = new Set<string>();
    for (let round = 0; round < 3; round++) {
      seen.add(credentials(at.home).tokens?.refreshToken ?? "");
      changeTokens(at.home, { expiresAt: 1 });
      const session = at.open();
      const texts = await Promise.all([1, 2, 3, 4].map((each) => call(session, `${round}-${each}`)));
      expect(texts).toEqual([1, 2, 3, 4].map((each) => `echo ${round}-${each}`));
    }
    seen.add(credentials(at.home).tokens?.refreshToken ?? "");
    expect(seen.size).toBe(4);
    expect(at.oidc.events.slice(3)).toEqual(Array.from({ length: 3 }, () => "grant refresh_token"));
  });

  test("is asked once, too, where tokens are revoked or over before their time", async () => {
    const at = await here();
    await signIn(at);
    const session = at.open();
    expect(await call(session, "a")).toBe("echo a");
    await (await at.oidc.accessToken(credentials(at.home).tokens?.accessToken ?? ""))?.destroy();
    expect(await call(session, "b")).toBe("echo b");
    expect([at.oidc.calls, at.oidc.events.slice(3)]).toEqual([["a", "b"], ["grant refresh_token"]]);
  });

  test("has to sign in again after somebody has used a refresh token twice; the client is the same", async () => {
    const at = await here();
    await signIn(at);
    const first = credentials(at.home).tokens?.refreshToken ?? "";
    changeTokens(at.home, { expiresAt: 1 });
    expect(await call(at.open())).toBe("echo hi");
    changeTokens(at.home, { expiresAt: 1, refreshToken: first });
    await needsAuth(call(at.open()));
    expect(at.oidc.events.slice(4).sort()).toEqual([
      "grant refresh_token refused: refresh token already used",
      "grant revoked",
    ]);
    expect(credentials(at.home).tokens).toBeUndefined();
    await signIn(at);
    expect(await call(at.session)).toBe("echo hi");
    expect(at.oidc.events.filter((event) => event === "registered")).toHaveLength(1);
  });

  test("has to sign in again when the refresh token is over", async () => {
    const at = await here({ accessTokenS: 1, refreshTokenS: 1 });
    await signIn(at);
    await sleep(1_100);
    await needsAuth(call(at.open()));
    expect(at.oidc.events.at(-1)).toContain("refresh token is expired");
  });

  test("signs out there, too: neither token is good any more", async () => {
    const at = await here();
    await signIn(at);
    const { accessToken = "", refreshToken = "" } = credentials(at.home).tokens ?? {};
    expect(await at.oidc.refreshToken(refreshToken)).toBeDefined();
    expect(await at.session.signIn("s").logout()).toBe(true);
    expect([await at.oidc.refreshToken(refreshToken), await at.oidc.accessToken(accessToken)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(at.oidc.events.at(-1)).toBe("grant revoked");
    await needsAuth(call(at.session));
  });

  test("who cancels is told so, and keeps what he had", async () => {
    const at = await here();
    await signIn(at);
    const before = credentials(at.home);
    const flow = await at.session.signIn("s").start();
    const browser = formBrowser();
    const page = await browser.click(await browser.open(flow.url), "Cancel");
    expect(page.text).toContain("access_denied: End-User aborted interaction");
    await expect(flow.done).rejects.toThrow(/access_denied: End-User aborted interaction/);
    expect(credentials(at.home)).toEqual(before);
    expect(await call(at.session)).toBe("echo hi");
  });

  test("who comes too late, or twice, with a code is told so", async () => {
    const at = await here({ codeS: 1 });
    const answered = async () => {
      const flow = await at.session.signIn("s").start({ listens: false });
      return { flow, answer: (await agree(flow.url, formBrowser({ unreachable: flow.redirectUri }))).url };
    };
    const late = await answered();
    await sleep(1_100);
    await expect(late.flow.complete(late.answer)).rejects.toThrow(/invalid_grant: grant request is invalid/);
    expect(at.oidc.events.at(-1)).toContain("authorization code is expired");
    const twice = await answered();
    await twice.flow.complete(twice.answer);
    await expect(twice.flow.complete(twice.answer)).rejects.toThrow(/this sign-in is over/);
    expect(await call(at.session)).toBe("echo hi");
  });

  test("who is asked for more agrees to that beside what he had", async () => {
    const at = await here({ callScope: "write" });
    const browser = formBrowser();
    await signIn(at, browser);
    await expect(call(at.session)).rejects.toThrow(/asks for more than this sign-in may do \(scope "write"\)/);
    await signIn(at, browser);
    expect(await call(at.session)).toBe("echo hi");
    expect(credentials(at.home).tokens?.scope).toBe("read write");
    // It lets no client ask for what it is not registered with.
    expect(at.oidc.events.filter((event) => event === "registered")).toHaveLength(2);
  });

  test("may have tokens that are bound to a key, with nonces", async () => {
    const at = await here({ nonces: true }, { entry: { oauth: { dpop: true } } });
    await signIn(at);
    expect(await call(at.session)).toBe("echo hi");
    changeTokens(at.home, { expiresAt: 1 });
    expect(await call(at.open())).toBe("echo hi");
    const { tokens } = credentials(at.home);
    expect((await at.oidc.accessToken(tokens?.accessToken ?? ""))?.jkt).toMatch(/^[\w-]{43}$/);
    expect([tokens?.tokenType, [...at.oidc.schemes]]).toEqual(["DPoP", ["DPoP"]]);
    expect(at.oidc.events.at(-1)).toBe("grant refresh_token");
  });

  test("may be known by the address of a document", async () => {
    const clientMetadataUrl = "https://client.example/metadata.json";
    const document = {
      client_id: clientMetadataUrl,
      redirect_uris: ["http://localhost/callback"],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    };
    const at = await here(
      { clientDocuments: { [clientMetadataUrl]: document } },
      { entry: { oauth: { clientMetadataUrl } } },
    );
    await signIn(at);
    changeTokens(at.home, { expiresAt: 1 });
    expect(await call(at.open())).toBe("echo hi");
    expect(at.oidc.events).toEqual(["authorized", "grant authorization_code", "grant refresh_token"]);
  });
});

test("[E053] a 401 to the question of the era goes to the sign-in, and the question is asked again after it", async () => {
  const at = await here();
  await needsAuth(call(at.session));
  await signIn(at);
  expect(await call(at.session)).toBe("echo hi");
  expect(at.oidc.requests.slice(0, 2)).toEqual(["refused server/discover", "let in server/discover"]);
  expect(at.oidc.requests.filter((each) => each.endsWith("initialize"))).toEqual([]);
});

describe("a program without a person", () => {
  test.each(["client_secret_basic", "client_secret_post"])("shows its secret by %s", async (method) => {
    const client = {
      client_id: "robot: 1",
      client_secret: "planted s:e%c+r=t/~ & more",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: method,
    };
    const oauth = {
      grantType: "client_credentials",
      clientId: client.client_id,
      clientSecret: "${ROBOT}",
      scope: "read",
      // What the server lists first would be tried first.
      tokenEndpointAuthMethod: method,
    };
    const at = await here({ clients: [client] }, { entry: { oauth }, env: { ROBOT: client.client_secret } });
    expect(await call(at.session)).toBe("echo hi");
    expect(at.oidc.events).toEqual(["grant client_credentials"]);
  });

  test("shows a signature instead of a secret", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const client = {
      client_id: "robot",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [publicKey.export({ format: "jwk" })] },
    };
    const oauth = {
      grantType: "client_credentials",
      clientId: "robot",
      privateKey: String(privateKey.export({ format: "pem", type: "pkcs8" })),
      signingAlgorithm: "ES256",
    };
    const at = await here({ clients: [client] }, { entry: { oauth } });
    expect(await call(at.session)).toBe("echo hi");
    expect(at.oidc.events).toEqual(["grant client_credentials"]);
  });
});

test("on the command line: signs in, calls, renews, and signs out", async () => {
  const at = await here();
  const cli = (...args: string[]) => startCli(process.execPath, at.home, args);
  const login = cli("auth", "login", "s");
  let said = "";
  login.child.stdout?.on("data", (text: string) => {
    said += text;
  });
  await agree(await until("the address", () => /^http\S+$/m.exec(said)?.[0]));
  expect(await login.ended).toMatchObject({ code: 0, stderr: "" });
  changeTokens(at.home, { expiresAt: 1 });
  const called = await cli("call", "s", "echo", '{"text":"there"}').ended;
  expect([called.code, called.stdout]).toEqual([0, expect.stringContaining("echo there")]);
  const { tokens } = credentials(at.home);
  expect(await cli("auth", "logout", "s").ended).toMatchObject({ code: 0, stderr: "" });
  expect(at.oidc.events).toEqual([
    ...["registered", "authorized", "grant authorization_code"],
    ...["grant refresh_token", "grant revoked"],
  ]);
  expect(await at.oidc.accessToken(tokens?.accessToken ?? "")).toBeUndefined();
  expect(() => credentials(at.home)).toThrow(credentialsFile(at.home));
});
