import { existsSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../ground/wait.ts";
import { call, type Place, place } from "./open.ts";
import { fileOf, refreshes } from "./refreshing.ts";

/** The keyring of this computer, for this file: what it holds, and what is wrong with it. */
const keyring = vi.hoisted(() => ({
  kept: new Map<string, string>(),
  error: undefined as Error | undefined,
  loads: 0,
}));

vi.mock("@napi-rs/keyring", () => {
  keyring.loads++;
  return {
    AsyncEntry: class {
      readonly #key: string;
      constructor(service: string, account: string) {
        this.#key = `${service} ${account}`;
      }
      async getPassword() {
        if (keyring.error) throw keyring.error;
        return keyring.kept.get(this.#key) ?? null;
      }
      async setPassword(text: string) {
        if (keyring.error) throw keyring.error;
        keyring.kept.set(this.#key, text);
      }
      async deletePassword() {
        if (keyring.error) throw keyring.error;
        return keyring.kept.delete(this.#key);
      }
    },
  };
});

beforeEach(() => {
  keyring.kept.clear();
  keyring.error = undefined;
});

const LOCKED =
  /its tokens could not be (read from|written to|removed from) the keyring of this computer \(locked\); unlock it/;
const KEPT = { entry: { oauth: { credentialStore: "keyring" } } };

function plantedIn(here: Place, text: string): boolean {
  return [...here.authorization.secrets].some((secret) => text.includes(secret));
}

/** The same server, whose entry says now where its tokens are kept. */
function moved({ home, server }: Place, credentialStore: string): void {
  home.write({ mcp: { mcpServers: { s: { url: server.url, oauth: { credentialStore } } } } });
}

test("the package is loaded only where an entry asks for it", async () => {
  const here = await place();
  await here.signIn();
  expect([await call(here.session), keyring.loads, keyring.kept.size]).toEqual(["echo hi", 0, 0]);
});

describe("with credentialStore: keyring", () => {
  test("no token is in any file; calls, refreshes and a sign-out work, in other sessions too", async () => {
    const here = await place(KEPT);
    await here.signIn();
    const texts = () => [readFileSync(fileOf(here), "utf8")];
    expect(texts().some((text) => plantedIn(here, text))).toBe(false);
    expect([...keyring.kept.values()].some((text) => plantedIn(here, text))).toBe(true);
    const session = here.open();
    expect(await call(session)).toBe("echo hi");
    const [account = "", text = ""] = [...keyring.kept].at(-1) ?? [];
    const now = JSON.parse(text) as { tokens: { accessToken: string } };
    here.server.revoked.add(now.tokens.accessToken);
    expect(await call(session, "again")).toBe("echo again");
    expect([refreshes(here), keyring.kept.get(account) === text]).toEqual([1, false]);
    // The session that was there before finds what the other has brought.
    expect(await call(here.session, "third")).toBe("echo third");
    expect([refreshes(here), await session.signIn("s").status()]).toMatchObject([1, { state: "signed-in" }]);
    expect(texts().some((each) => plantedIn(here, each))).toBe(false);
    expect(await session.signIn("s").logout()).toBe(true);
    expect([keyring.kept.size, existsSync(fileOf(here))]).toEqual([0, false]);
    await expect(call(here.session)).rejects.toMatchObject({ category: "needs-auth" });
  });

  test("a keyring that fails is told as that, and nobody is signed out by it", async () => {
    const here = await place(KEPT);
    await here.signIn();
    keyring.error = new Error("locked");
    const session = here.open();
    await expect(call(session)).rejects.toThrow(LOCKED);
    await expect(session.signIn("s").status()).rejects.toThrow(LOCKED);
    keyring.error = undefined;
    expect(await call(session)).toBe("echo hi");
  });

  test("a keyring that fails is told before somebody signs in for nothing", async () => {
    const here = await place(KEPT);
    keyring.error = new Error("locked");
    await expect(here.session.signIn("s").start()).rejects.toThrow(LOCKED);
    expect(here.authorization.requests).toEqual([]);
  });

  test("an entry that somebody has taken out of the keyring is told, and a new sign-in mends it", async () => {
    const here = await place(KEPT);
    await here.signIn();
    keyring.kept.clear();
    await expect(call(here.open())).rejects.toThrow(/does not have its tokens any more; sign in again/);
    await here.signIn();
    expect(await call(here.open())).toBe("echo hi");
  });

  test("new tokens that cannot be kept in it are used as long as the session lasts", async () => {
    const here = await place(KEPT);
    await here.signIn();
    const session = here.open();
    expect(await call(session)).toBe("echo hi");
    for (const token of here.authorization.tokens.keys()) here.server.revoked.add(token);
    here.authorization.options.tokenDelayMs = 200;
    const calling = call(session, "again");
    await until("the refresh", () => refreshes(here) === 1 || undefined);
    keyring.error = new Error("locked");
    expect(await calling).toBe("echo again");
    expect(await call(session, "third")).toBe("echo third");
    expect(refreshes(here)).toBe(1);
  });

  test("a sign-out from one that fails is complete here, and says what is left", async () => {
    const here = await place(KEPT);
    await here.signIn();
    keyring.error = new Error("locked");
    await expect(here.session.signIn("s").logout()).rejects.toThrow(LOCKED);
    keyring.error = undefined;
    expect(existsSync(fileOf(here))).toBe(false);
    await expect(call(here.open())).rejects.toMatchObject({ category: "needs-auth" });
  });
});

test("what is in the file moves into the keyring with its next change, and back", async () => {
  const here = await place();
  await here.signIn();
  const renew = async () => {
    for (const token of here.authorization.tokens.keys()) here.server.revoked.add(token);
    expect(await call(here.open())).toBe("echo hi");
  };
  moved(here, "keyring");
  expect(await call(here.open())).toBe("echo hi");
  await renew();
  expect([plantedIn(here, readFileSync(fileOf(here), "utf8")), keyring.kept.size]).toEqual([false, 1]);
  moved(here, "file");
  await renew();
  expect([plantedIn(here, readFileSync(fileOf(here), "utf8")), keyring.kept.size]).toEqual([true, 0]);
  expect(here.authorization.seen("/register")).toHaveLength(1);
});

test("credentialStore has two words", async () => {
  const here = await place({ entry: { oauth: { credentialStore: "cloud" } } });
  expect(here.session.problems.map(({ message }) => message).join()).toContain('must be "file" or "keyring"');
});
