import { describe, expect, it, vi } from "vitest";
import type { KeyringModule } from "./keyring.ts";
import { openKeyring } from "./keyring.ts";

/** A keyring in memory, and what may go wrong with it. */
function fake(fails: { get?: Error | "silent"; set?: Error } = {}) {
  const kept = new Map<string, string>();
  class AsyncEntry {
    readonly #key: string;
    constructor(service: string, account: string) {
      this.#key = `${service} ${account}`;
    }
    async getPassword() {
      if (fails.get === "silent") return new Promise<never>(() => {});
      if (fails.get) throw fails.get;
      return kept.get(this.#key) ?? null;
    }
    async setPassword(text: string) {
      if (fails.set) throw fails.set;
      kept.set(this.#key, text);
    }
    async deletePassword() {
      return kept.delete(this.#key);
    }
  }
  const load = vi.fn(async (): Promise<KeyringModule> => ({ AsyncEntry }));
  return { kept, load, fails };
}

describe("the keyring", () => {
  it("keeps, changes and forgets a text, and loads its package with the first use", async () => {
    const { kept, load } = fake();
    const keyring = openKeyring({ load });
    expect(load).not.toHaveBeenCalled();
    expect(await keyring.get("a")).toBeUndefined();
    await keyring.set("a", "one");
    await keyring.set("a", "two");
    expect([await keyring.get("a"), await keyring.get("b")]).toEqual(["two", undefined]);
    await keyring.probe();
    await keyring.remove("a");
    expect([await keyring.get("a"), kept.size]).toEqual([undefined, 0]);
  });

  it("keeps a long text in pieces where the system has a limit, and leaves none behind", async () => {
    const { kept, load } = fake();
    const keyring = openKeyring({ load, chunkChars: 60 });
    const long = "äöü\n".repeat(100);
    await keyring.set("a", long);
    expect(await keyring.get("a")).toBe(long);
    expect(Math.max(...[...kept.values()].map(({ length }) => length))).toBeLessThanOrEqual(60);
    const before = kept.size;
    await keyring.set("a", `${long}!`);
    expect([await keyring.get("a"), kept.size]).toEqual([`${long}!`, before]);
    await keyring.set("a", "short");
    expect([await keyring.get("a"), kept.size]).toEqual(["short", 1]);
    await keyring.set("a", long);
    await keyring.remove("a");
    expect(kept.size).toBe(0);
  });

  it("that fails says why and what to do, in one line", async () => {
    const { load } = fake({ get: new Error("Couldn't access\nplatform storage: locked"), set: new Error("") });
    const keyring = openKeyring({ load });
    await expect(keyring.get("a")).rejects.toThrow(
      'its tokens could not be read from the keyring of this computer (Couldn\'t access platform storage: locked); unlock it or start its service, or set "credentialStore" in "oauth" of its entry to "file" and sign in again',
    );
    await expect(keyring.set("a", "x")).rejects.toThrow(/written to the keyring of this computer \(no reason given\)/);
    await expect(keyring.probe()).rejects.toThrow(/written to/);
  });

  it("that is silent is waited for once, and then not again for a while", async () => {
    const { load, fails } = fake({ get: "silent" });
    const keyring = openKeyring({ load, limitMs: 30 });
    await expect(keyring.get("a")).rejects.toThrow(/did not answer within 0\.03 s/);
    delete fails.get;
    await expect(keyring.get("a")).rejects.toThrow(/has not answered lately/);
  });

  it("whose package is not installed says by which command it is, and one that cannot be loaded why", async () => {
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    const without = openKeyring({ load: () => Promise.reject(missing) });
    await expect(without.get("a")).rejects.toThrow(
      /is not installed; run: npm install --prefix \S+ @napi-rs\/keyring$/,
    );
    const broken = openKeyring({ load: () => Promise.reject(new Error("Cannot find native binding")) });
    await expect(broken.probe()).rejects.toThrow(/cannot be loaded \(Cannot find native binding\); run: npm install/);
  });

  it("is that of this system by the real package: it keeps a text, or says that it cannot", async () => {
    const { AsyncEntry } = await import("@napi-rs/keyring");
    expect(AsyncEntry).toBeTypeOf("function");
    const probed = await openKeyring()
      .probe()
      .catch((error: Error) => error.message);
    if (probed !== undefined) expect(probed).toMatch(/could not be written to the keyring of this computer \([^)]+\)/);
  });
});
