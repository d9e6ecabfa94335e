import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { AuthError } from "./error.ts";

/** A person may be asked to unlock it; one that does not answer at all must not hold up an agent. */
const LIMIT_MS = 10_000;
/** After it did not answer, nobody waits for it again for a while. */
const PAUSE_MS = 30_000;
/** Windows keeps 2,560 bytes a piece, which is so many UTF-16 characters. */
const WINDOWS_CHUNK_CHARS = 1_280;
const SERVICE = "pi-mcp";
const PACKAGE = "@napi-rs/keyring";

/** What is used of the package. */
export interface KeyringModule {
  AsyncEntry: new (
    service: string,
    account: string,
  ) => {
    getPassword(signal?: AbortSignal): Promise<string | null | undefined>;
    setPassword(text: string, signal?: AbortSignal): Promise<void>;
    deletePassword(signal?: AbortSignal): Promise<unknown>;
  };
}

/** The keyring of the system. All of it rejects with AuthError, which says what to do; that is never "there is nothing". */
export interface Keyring {
  get(account: string): Promise<string | undefined>;
  set(account: string, text: string): Promise<void>;
  remove(account: string): Promise<void>;
  /** Whether something can be kept in it, before somebody signs in for nothing. */
  probe(): Promise<void>;
}

export interface KeyringOptions {
  readonly load?: () => Promise<KeyringModule>;
  readonly limitMs?: number;
  /** Longer texts are kept in pieces. */
  readonly chunkChars?: number;
}

/** Nothing is loaded before the first use. */
export function openKeyring({
  load = () => import("@napi-rs/keyring"),
  limitMs = LIMIT_MS,
  chunkChars = process.platform === "win32" ? WINDOWS_CHUNK_CHARS : Number.POSITIVE_INFINITY,
}: KeyringOptions = {}): Keyring {
  let silentUntil = 0;

  type Entry = InstanceType<KeyringModule["AsyncEntry"]>;
  async function use<T>(doing: string, account: string, work: (entry: Entry, signal: AbortSignal) => Promise<T>) {
    if (performance.now() < silentUntil) throw failure(doing, "it has not answered lately");
    const { AsyncEntry } = await load().catch((error: unknown) => {
      throw notLoaded(error);
    });
    const abort = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        silentUntil = performance.now() + PAUSE_MS;
        reject(failure(doing, `it did not answer within ${limitMs / 1000} s`));
        abort.abort();
      }, limitMs);
    });
    try {
      return await Promise.race([work(new AsyncEntry(SERVICE, account), abort.signal), limit]);
    } catch (error) {
      throw error instanceof AuthError ? error : failure(doing, reasonOf(error));
    } finally {
      clearTimeout(timer);
    }
  }

  const getOne = (account: string) => use("read from", account, (entry, signal) => entry.getPassword(signal));
  const setOne = (account: string, text: string) =>
    use("written to", account, (entry, signal) => entry.setPassword(text, signal));
  const removeOne = (account: string) => use("removed from", account, (entry, signal) => entry.deletePassword(signal));

  /** The accounts of the pieces of what stands under an account, if it is in pieces. */
  function piecesOf(account: string, head: string | null | undefined): string[] {
    const [, id, count] = /^pieces ([\w-]+) (\d{1,4})$/.exec(head ?? "") ?? [];
    return Array.from({ length: Number(count ?? 0) }, (_, index) => `${account} ${id} ${index}`);
  }

  async function removePieces(accounts: readonly string[]): Promise<void> {
    for (const account of accounts) await removeOne(account);
  }

  return {
    async get(account) {
      const head = await getOne(account);
      const accounts = piecesOf(account, head);
      if (accounts.length === 0) return head ?? undefined;
      const pieces: string[] = [];
      for (const each of accounts) pieces.push((await getOne(each)) ?? "");
      return pieces.join("");
    },
    async set(account, text) {
      const former = Number.isFinite(chunkChars) ? piecesOf(account, await getOne(account)) : [];
      if (text.length <= chunkChars) await setOne(account, text);
      else {
        const pieces = text.match(new RegExp(`[^]{1,${chunkChars}}`, "g")) ?? [];
        const head = `pieces ${randomUUID()} ${pieces.length}`;
        const accounts = piecesOf(account, head);
        for (const [index, piece] of pieces.entries()) await setOne(accounts[index] ?? "", piece);
        // Until here whoever reads finds the former text whole.
        await setOne(account, head);
      }
      await removePieces(former);
    },
    async remove(account) {
      const pieces = piecesOf(account, await getOne(account));
      await removeOne(account);
      await removePieces(pieces);
    },
    async probe() {
      const account = `probe ${randomUUID()}`;
      await setOne(account, "probe");
      await removeOne(account);
    },
  };
}

function failure(doing: string, reason: string): AuthError {
  const text = `its tokens could not be ${doing} the keyring of this computer (${reason}); unlock it or start its service, or set "credentialStore" in "oauth" of its entry to "file" and sign in again`;
  return new AuthError("refused", text);
}

/** A system's own words, which hold no value: one short line. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : "";
  return (
    text
      .replace(/[\p{C}\s]+/gu, " ")
      .trim()
      .slice(0, 200) || "no reason given"
  );
}

function notLoaded(error: unknown): AuthError {
  const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
  const why = isMissing ? "is not installed" : `cannot be loaded (${reasonOf(error)})`;
  const text = `"credentialStore" in "oauth" of its entry is "keyring", and the package for that ${why}; run: npm install --prefix ${placeOfPackages()} ${PACKAGE}`;
  return new AuthError("refused", text, { cause: error });
}

/** The folder whose `node_modules` this program's packages are looked for in. */
function placeOfPackages(): string {
  const here = fileURLToPath(import.meta.url);
  const at = here.lastIndexOf("node_modules");
  const folder = at > 0 ? here.slice(0, at - 1) : here.replace(/[\\/](?:src|dist)[\\/].*$/, "");
  return /[\s'"]/.test(folder) ? JSON.stringify(folder) : folder;
}
