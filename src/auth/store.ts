import type { JsonWebKey } from "node:crypto";
import { createHash, randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Lock } from "../lock.ts";
import { AuthError } from "./error.ts";
import { jsonObject } from "./json-object.ts";
import type { Keyring } from "./keyring.ts";
import { isUnwritable, Unwritable, withLock } from "./lock.ts";

/** For a change, which takes no time, but for a holder that is stopped in the middle of one. */
const CHANGE_PATIENCE_MS = 60_000;
/** For somebody else's refresh, which ends by its own limit, and then for those of everybody before us. */
const REFRESH_PATIENCE_MS = 120_000;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Names and meanings as in pi's MCP adapter [S3-26]; those below the line are ours. Others are kept as they are. */
export interface StoredTokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Unix seconds. */
  readonly expiresAt?: number | undefined;
  readonly scope?: string | undefined;
  // ---
  /** `DPoP`; a bearer token without it. */
  readonly tokenType?: string | undefined;
  readonly [other: string]: unknown;
}

export interface StoredClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly clientIdIssuedAt?: number | undefined;
  readonly clientSecretExpiresAt?: number | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  // ---
  /** Whose client it is: it is never shown to another authorization server. */
  readonly issuer?: string | undefined;
  readonly tokenEndpointAuthMethod?: string | undefined;
  /** What it was registered with. */
  readonly scope?: string | undefined;
  readonly [other: string]: unknown;
}

export interface Credentials {
  /** They are of use at this address alone [S3-28, S3-29]. */
  readonly serverUrl: string;
  readonly tokens?: StoredTokens | undefined;
  readonly clientInfo?: StoredClient | undefined;
  // ---
  /** What is needed for a refresh: the authorization server as its metadata had it, and the resource. */
  readonly authorizationServer?: Readonly<Record<string, unknown>> | undefined;
  readonly resource?: string | undefined;
  /** What was asked for, and what the server has asked for since. */
  readonly requestedScope?: string | undefined;
  readonly challengedScope?: string | undefined;
  readonly dpopKey?: JsonWebKey | undefined;
  readonly [other: string]: unknown;
}

/** The folder of a server: by its name, so that others read the same file [S3-24]. */
function folderOf(root: string, server: string): string {
  return join(root, `sha256-${createHash("sha256").update(server, "utf8").digest("hex")}`);
}

export function tokenFile(root: string, server: string): string {
  return join(folderOf(root, server), "tokens.json");
}

/** What one who works alone leaves for the next, should it be killed; and what the one before has left. */
export type Turn = Pick<Lock, "inherited" | "note">;

const UNLOCKED: Turn = { inherited: [], note: () => {} };

/**
 * One server's credentials: in its file, or in the keyring, of which the file then says so. What cannot be written is kept in
 * memory for as long as the store is.
 */
export interface Store {
  readonly file: string;
  /** Undefined when there are none, or none for this address. Rejects with AuthError when the keyring does not answer. */
  read(): Promise<Credentials | undefined>;
  /** Likewise, for one who is about to put new ones there: what the keyring has lost is lost. */
  readForNew(): Promise<Credentials | undefined>;
  /** Rejects with AuthError where new ones could not be kept. */
  probe(): Promise<void>;
  /**
   * Changes them in one step that no other process' change falls into: `change` gets what is there now and returns what is
   * to be there, undefined for nothing; what it got, to leave it.
   */
  update(change: (now: Credentials | undefined) => Credentials | undefined): Promise<void>;
  /** Alone among all processes that do so for this server. Runs without the lock where nothing can be written. */
  alone<T>(work: (turn: Turn) => Promise<T>): Promise<T>;
  /** Removes what is stored, also of another address, and what waits. */
  clear(): Promise<boolean>;
}

export interface StoreOptions {
  /** Where what is written goes. What is there already is read wherever it is. */
  readonly keeps?: "file" | "keyring" | undefined;
  readonly keyring?: Keyring;
}

/** In a file whose tokens are in the keyring. */
const KEYRING_MARK = "keyring";

export function openStore(
  root: string,
  server: string,
  serverUrl: string,
  { keeps = "file", keyring: given }: StoreOptions = {},
): Store {
  const file = tokenFile(root, server);
  const lockBase = join(folderOf(root, server), "refresh");
  // Several homes of one person may share a keyring.
  const account = createHash("sha256").update(`${root}\0${server}`, "utf8").digest("hex");
  let keyring: Promise<Keyring> | undefined;
  let cached: { readonly stamp: string; readonly content: Credentials | undefined } | undefined;
  /** What could not be written. */
  let unwritten: { readonly over: string; readonly content: Credentials | undefined } | undefined;

  function openedKeyring(): Promise<Keyring> {
    keyring ??= given ? Promise.resolve(given) : import("./keyring.ts").then(({ openKeyring }) => openKeyring());
    return keyring;
  }

  function stampOf(): string {
    const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? "" : `${stat.mtimeNs}:${stat.size}:${stat.ino}`;
  }

  function readRaw(): Record<string, unknown> | undefined {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
      throw error;
    }
    // A damaged one is as if there were none.
    return jsonObject(text);
  }

  function isInKeyring(raw = readRaw()): boolean {
    return raw?.credentialStore === KEYRING_MARK;
  }

  /** `lost`: what to do where the file says that there is something and the keyring has nothing. */
  async function readOr(lost: () => undefined): Promise<Credentials | undefined> {
    const stamp = stampOf();
    if (unwritten && unwritten.over === stamp) return unwritten.content;
    unwritten = undefined;
    if (cached?.stamp === stamp) return cached.content;
    let raw = readRaw();
    if (isInKeyring(raw) && raw?.serverUrl === serverUrl) {
      const text = await (await openedKeyring()).get(account);
      if (text === undefined) return lost();
      raw = jsonObject(text);
    }
    const content = ofServer(raw, serverUrl);
    cached = { stamp, content };
    return content;
  }

  const read = () =>
    readOr(() => {
      throw new AuthError("refused", "the keyring of this computer does not have its tokens any more; sign in again");
    });
  const readForNew = () => readOr(() => undefined);

  /** The keyring first: what the file says is true at any moment. */
  async function write(content: Credentials): Promise<void> {
    const wasInKeyring = isInKeyring();
    if (keeps === "keyring") {
      await (await openedKeyring()).set(account, JSON.stringify(content));
      // With a stamp of its own, by which others notice the change.
      writeFile({ serverUrl, credentialStore: KEYRING_MARK, version: randomUUID() });
    } else {
      writeFile(content);
      if (wasInKeyring) await (await openedKeyring()).remove(account);
    }
  }

  function writeFile(content: object): void {
    const folder = dirname(file);
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    chmodSync(folder, FOLDER_MODE);
    const temporary = join(folder, `.tokens.${randomUUID()}.tmp`);
    try {
      writeFileSync(temporary, `${JSON.stringify(content, undefined, 2)}\n`, { mode: FILE_MODE, flag: "wx" });
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  async function update(change: (now: Credentials | undefined) => Credentials | undefined): Promise<void> {
    try {
      await withLock(
        file,
        async () => {
          forgetKeyring();
          const now = await readForNew();
          const next = change(now);
          if (next === now) return;
          if (next === undefined) rmSync(file, { force: true });
          else await write(next);
        },
        CHANGE_PATIENCE_MS,
      );
    } catch (error) {
      // New tokens are worth more than the place they should be in.
      if (!(error instanceof Unwritable) && !(error instanceof AuthError) && !isUnwritable(error)) throw error;
      const now = await readForNew().catch(() => cached?.content);
      const next = change(now);
      if (next !== now) unwritten = { over: stampOf(), content: next };
    }
  }

  /** One who was killed may have changed the keyring and not yet the file. */
  function forgetKeyring(): void {
    if (cached && isInKeyring()) cached = { ...cached, stamp: "looked at before" };
  }

  return {
    file,
    read,
    readForNew,
    async probe() {
      if (keeps === "keyring") await (await openedKeyring()).probe();
    },
    update,
    async alone(work) {
      try {
        return await withLock(
          lockBase,
          (turn) => {
            forgetKeyring();
            return work(turn);
          },
          REFRESH_PATIENCE_MS,
        );
      } catch (error) {
        if (error instanceof Unwritable) return work(UNLOCKED);
        throw error;
      }
    },
    async clear() {
      const had = statSync(file, { throwIfNoEntry: false }) !== undefined || unwritten?.content !== undefined;
      const wasInKeyring = isInKeyring();
      unwritten = undefined;
      await withoutTokens();
      try {
        rmSync(join(dirname(file), "pending.json"), { force: true });
      } catch (error) {
        if (!isUnwritable(error)) throw error;
      }
      if (wasInKeyring) await (await openedKeyring()).remove(account);
      return had;
    },
  };

  /** Also what is stored for another address. Where nothing can be written they are forgotten by this process alone. */
  async function withoutTokens(): Promise<void> {
    try {
      await withLock(file, async () => rmSync(file, { force: true }), CHANGE_PATIENCE_MS);
    } catch (error) {
      if (!(error instanceof Unwritable) && !isUnwritable(error)) throw error;
      unwritten = { over: stampOf(), content: undefined };
    }
  }
}

/** What is stored, if it is for this address and has the kinds it should have. */
function ofServer(raw: Record<string, unknown> | undefined, serverUrl: string): Credentials | undefined {
  if (raw === undefined || raw.serverUrl !== serverUrl) return undefined;
  const { tokens, clientInfo, ...rest } = raw;
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
  return {
    ...rest,
    serverUrl,
    ...(isObject(tokens) &&
      typeof tokens.accessToken === "string" &&
      tokens.accessToken !== "" && {
        tokens: tokens as StoredTokens,
      }),
    ...(isObject(clientInfo) && typeof clientInfo.clientId === "string" && { clientInfo: clientInfo as StoredClient }),
  };
}
