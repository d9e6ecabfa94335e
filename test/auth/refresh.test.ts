import { existsSync, mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../ground/wait.ts";
import { call, type PlaceOptions, place } from "./open.ts";
import { expired, fileOf, folderOf, refreshes, store, stored } from "./refreshing.ts";

describe("a token that is over", () => {
  test("is renewed once, and the call is made", async () => {
    const here = await expired();
    expect(await call(here.open())).toBe("echo hi");
    expect([refreshes(here), here.server.calls, here.authorization.refusals]).toEqual([1, ["hi"], []]);
    // It was known beforehand: nothing was refused.
    expect(
      here.server.requests.every(({ authorization }) => !here.server.revoked.has(authorization?.slice(7) ?? "")),
    ).toBe(true);
  });

  test("[E125] one that was revoked before its time is renewed, and the refused request made again", async () => {
    const here = await expired({}, "revoked");
    const session = here.open();
    expect(await call(session)).toBe("echo hi");
    expect(refreshes(here)).toBe(1);
    // And in the middle of a connection.
    here.server.revoked.add(stored(here).tokens?.accessToken ?? "");
    expect(await call(session, "again")).toBe("echo again");
    expect([refreshes(here), here.server.calls]).toEqual([2, ["hi", "again"]]);
  });

  test("[E280] an answer without a refresh token leaves the old one", async () => {
    const here = await expired({ authorization: { rotates: false } });
    const before = stored(here).tokens?.refreshToken;
    await call(here.open());
    expect(stored(here).tokens?.refreshToken).toBe(before);
    expect(before).toMatch(/^planted-refresh-token/);
  });

  test("[E121] no refresh registers a client", async () => {
    const here = await expired();
    await call(here.open());
    expect(here.authorization.seen("/register")).toHaveLength(1);
  });

  test("[E124] a refresh token that is no longer good ends in needs-auth, and the old token is not shown again", async () => {
    const here = await expired();
    here.authorization.refreshTokens.clear();
    const session = here.open();
    await expect(call(session)).rejects.toMatchObject({ category: "needs-auth" });
    const before = here.server.requests.length;
    await expect(call(session)).rejects.toMatchObject({ category: "needs-auth" });
    expect(here.server.requests.slice(before).map(({ authorization }) => authorization)).not.toContain(
      expect.stringContaining("planted"),
    );
    expect(refreshes(here)).toBe(1);
    expect(stored(here)).toMatchObject({ clientInfo: { clientId: expect.any(String) } });
    expect(stored(here).tokens).toBeUndefined();
  });

  test.each<[string, NonNullable<PlaceOptions["authorization"]>["onToken"]]>([
    ["503", () => ({ status: 503, body: "busy" })],
    ["429", () => ({ status: 429, body: { error: "slow_down" } })],
    ["a page with 200", () => ({ type: "text/html", body: "<h1>Sign in to the hotel</h1>" })],
    ["a cut connection", () => "reset"],
    ["a passing error", () => ({ status: 400, body: { error: "temporarily_unavailable" } })],
  ])("[E122] a refresh answered by %s keeps the sign-in, and asks nobody to do it again", async (_, onToken) => {
    const here = await expired();
    const { options } = here.authorization;
    if (onToken) options.onToken = onToken;
    const before = stored(here);
    const session = here.open();
    const error = await call(session).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      category: "connection",
      message: expect.stringMatching(/sign-in could not be renewed/),
    });
    expect(stored(here)).toEqual(before);
    // It is not asked again at once.
    await expect(call(session)).rejects.toMatchObject({ category: "connection" });
    expect(refreshes(here)).toBe(1);
    expect([here.authorization.seen("/authorize").length, session.status("s").state]).toEqual([1, "failed"]);
    delete options.onToken;
    expect(await call(here.open())).toBe("echo hi");
  });

  test("[E122] while a token is still good, a refresh that fails costs nothing", async () => {
    const here = await place({ authorization: { lifetimeS: 5 } });
    await here.signIn();
    here.authorization.options.onToken = () => ({ status: 503, body: "" });
    // Soon over, which is when it is renewed.
    expect(await call(here.open())).toBe("echo hi");
    expect(refreshes(here)).toBe(1);
  });

  test("[E119] the metadata that was named at the sign-in is used for the refresh after a restart", async () => {
    const here = await expired({ authorization: { metadataPath: "/odd/place" } }).catch(() => undefined);
    expect(here).toBeUndefined();
    const named = await place({ authorization: { metadataPath: "/odd/place" } });
    const settings = { authServerMetadataUrl: `${named.authorization.origin}/odd/place` };
    named.home.write({ mcp: { mcpServers: { s: { url: named.server.url, oauth: settings } } } });
    const flow = await named.open().signIn("s").start();
    await fetch(flow.url).then((response) => response.text());
    await flow.done;
    const now = stored(named);
    store(named, { ...now, tokens: { ...(now.tokens as { accessToken: string }), expiresAt: 1 } });
    expect(await call(named.open())).toBe("echo hi");
    expect(refreshes(named)).toBe(1);
  });

  test("[E278] a refresh takes none of the time of the handshake", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 1_700 }, entry: { startup_timeout_sec: 2 } });
    here.server.options.delayMs = 300;
    expect(await call(here.open())).toBe("echo hi");
    expect(refreshes(here)).toBe(1);
  });

  test.each(["expired", "revoked"] as const)(
    "[E277] a start that is over too soon does not throw the rotated token away (%s)",
    async (how) => {
      const options = { authorization: { tokenDelayMs: 1_500 }, entry: { startup_timeout_sec: 1 } };
      const here = await expired(options, how);
      await expect(call(here.open())).rejects.toMatchObject({ category: "timeout" });
      await until("the refreshed tokens", () => {
        const { refreshToken = "" } = stored(here).tokens ?? {};
        return (refreshes(here) === 1 && here.authorization.refreshTokens.has(refreshToken)) || undefined;
      });
      expect(await call(here.open())).toBe("echo hi");
      expect([refreshes(here), here.authorization.refusals]).toEqual([1, []]);
    },
  );

  test.each(["expired", "revoked"] as const)(
    "[E043] metadata that never comes ends the start at its limit (%s)",
    async (how) => {
      const here = await expired({ entry: { startup_timeout_sec: 1 } }, how);
      const { tokens, clientInfo, serverUrl } = stored(here);
      // As another program stores them, so that the authorization server has to be found.
      store(here, { tokens, clientInfo: { clientId: clientInfo?.clientId ?? "" }, serverUrl });
      here.server.options.silent = (path) => path.startsWith("/.well-known/");
      const error = await call(here.open()).catch((thrown: unknown) => thrown);
      const what = how === "expired" ? "`renewing its sign-in`" : "`(server/discover|initialize)`";
      expect(error).toMatchObject({
        category: "timeout",
        message: expect.stringMatching(new RegExp(`failed to initialize: ${what} timed out after 1s`)),
      });
      expect(stored(here).tokens).toEqual(tokens);
    },
  );

  test("a tokens.json of pi's adapter is read as it is", async () => {
    const here = await expired();
    const { tokens, clientInfo, serverUrl } = stored(here);
    store(here, {
      tokens,
      clientInfo: { clientId: clientInfo?.clientId ?? "" },
      serverUrl,
    });
    expect(await call(here.open())).toBe("echo hi");
    expect(refreshes(here)).toBe(1);
  });
});

test("a server that tells its token tells it nobody, neither before a refresh nor after", async () => {
  const here = await place();
  await here.signIn();
  const session = here.open();
  expect(await call(session, "who am I")).toBe("echo Bearer [REDACTED]");
  here.server.revoked.add(stored(here).tokens?.accessToken ?? "");
  expect(await call(session, "who am I")).toBe("echo Bearer [REDACTED]");
});

describe("several at once", () => {
  test("[E130] calls of one session share one refresh", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 100 } });
    const session = here.open();
    const texts = await Promise.all(Array.from({ length: 8 }, (_, index) => call(session, String(index))));
    expect(texts).toEqual(Array.from({ length: 8 }, (_, index) => `echo ${index}`));
    expect([refreshes(here), here.authorization.refusals]).toEqual([1, []]);
  });

  test("a session that is closed in the middle of a refresh keeps what it brings", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 300 } });
    const session = here.open();
    const calling = call(session).catch((error: unknown) => error);
    await until("the refresh", () => refreshes(here) === 1 || undefined);
    await session.close();
    expect(here.authorization.refreshTokens.has(stored(here).tokens?.refreshToken ?? "")).toBe(true);
    await calling;
    expect(await call(here.open())).toBe("echo hi");
  });

  test("[E134] a lock that has been left long ago holds nobody up", async () => {
    const here = await expired();
    const lock = join(folderOf(here), "refresh.lock");
    mkdirSync(lock);
    utimesSync(lock, 1, 1);
    expect(await call(here.open())).toBe("echo hi");
  });

  test("[E274] signing out during a refresh is the last word", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 300 } });
    const session = here.open();
    const calling = call(session).catch((error: unknown) => error);
    await until("the refresh", () => refreshes(here) === 1 || undefined);
    expect(await here.open().signIn("s").logout()).toBe(true);
    await calling;
    expect(existsSync(fileOf(here))).toBe(false);
    await expect(call(session)).rejects.toMatchObject({ category: "needs-auth" });
  });

  test("a sign-in during a refresh is the last word, too", async () => {
    const here = await expired({ authorization: { tokenDelayMs: 300 } });
    const session = here.open();
    const calling = call(session).catch((error: unknown) => error);
    await until("the refresh", () => refreshes(here) === 1 || undefined);
    here.authorization.options.tokenDelayMs = 0;
    await here.signIn();
    const signedIn = stored(here).tokens?.accessToken;
    await calling;
    expect(stored(here).tokens?.accessToken).toBe(signedIn);
  });
});
