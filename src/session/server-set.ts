import { type ConfigChanges, changesBetween, isSameServer } from "../config/changes.ts";
import type { LoadedConfig, ServerConfig } from "../config/record.ts";
import type { Server } from "../server/server.ts";

const REMOVED = "it was removed from the configuration";
const NOT_ALLOWED = "the project's file it comes from is not allowed any more";
const NO_CHANGES: ConfigChanges = { added: [], replaced: [], removed: [] };

/** Makes a server; one of its name may still be on its way out. */
type MakeServer = (config: ServerConfig, predecessor: Promise<unknown> | undefined, destructive: Set<string>) => Server;

/** The servers of a session as the configuration has them now, and those that are on their way out. */
export class ServerSet {
  readonly #make: MakeServer;
  #config: LoadedConfig;
  #servers: ReadonlyMap<string, Server>;
  /** Replaced, and held by requests under way. */
  readonly #retired = new Set<Server>();
  /** By name: for these a server of that name waits before it starts. */
  readonly #ending = new Map<string, Promise<unknown>>();
  /** By name of a server: its tools that were declared to be. Another entry of that name may well be the same server. */
  readonly #destructive = new Map<string, Set<string>>();
  #isClosed = false;

  constructor(config: LoadedConfig, make: MakeServer) {
    this.#make = make;
    this.#config = config;
    this.#servers = new Map(config.servers.map((server) => [server.name, this.#makeServer(server)]));
  }

  get config(): LoadedConfig {
    return this.#config;
  }

  get names(): string[] {
    return [...this.#servers.keys()];
  }

  get(name: string): Server | undefined {
    return this.#servers.get(name);
  }

  /**
   * Takes up another configuration, at once; of two that are given one after the other the last one stays. The promise
   * waits for what ends now.
   */
  async update(config: LoadedConfig): Promise<ConfigChanges> {
    if (this.#isClosed) return NO_CHANGES;
    const changes = changesBetween(this.#config.servers, config.servers);
    const before = this.#servers;
    const names = new Set(config.servers.map(({ name }) => name));
    for (const [name, server] of before) if (!names.has(name)) this.#end(server, REMOVED);
    this.#config = config;
    for (const server of this.#retired) if (this.#isDisallowed(server)) this.#end(server, NOT_ALLOWED);
    this.#servers = new Map(config.servers.map((each) => [each.name, this.#next(before.get(each.name), each)]));
    await Promise.all(this.#ending.values());
    return changes;
  }

  /** Ends every server, also those on their way out. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.values(), ...this.#retired].map((server) => server.close()));
    await Promise.all(this.#ending.values());
  }

  /** The server for an entry: the one there was, if it means the same, else a new one. */
  #next(before: Server | undefined, config: ServerConfig): Server {
    if (before !== undefined && isSameServer(before.config, config)) {
      before.relocate(config);
      return before;
    }
    if (before !== undefined) {
      if (this.#isDisallowed(before)) this.#end(before, NOT_ALLOWED);
      else this.#retire(before);
    }
    return this.#makeServer(config);
  }

  #makeServer(config: ServerConfig): Server {
    const { name } = config;
    const destructive = this.#destructive.get(name) ?? new Set();
    this.#destructive.set(name, destructive);
    return this.#make(config, this.#ending.get(name), destructive);
  }

  /** Whether any field of it was written in a project's file that is not allowed now; a file may only have changed it. */
  #isDisallowed({ config }: Server): boolean {
    const files = new Set(this.#config.untrusted?.map(({ file }) => file));
    return [config.source, ...Object.values(config.fields)].some(({ file }) => files.has(file));
  }

  /** Ends a server now, and with it what is left of those that had its name. */
  #end(server: Server, reason: string): void {
    const { name } = server.config;
    const all = [server, ...[...this.#retired].filter((retired) => retired.config.name === name)];
    this.#note(name, Promise.all(all.map((each) => each.close(reason))));
  }

  #retire(server: Server): void {
    const { idle, gone } = server.retire();
    this.#retired.add(server);
    void gone.then(() => this.#retired.delete(server));
    this.#note(server.config.name, idle);
  }

  /** Remembers that something of this name is ending, until it has. */
  #note(name: string, end: Promise<unknown>): void {
    const ending = Promise.all([this.#ending.get(name), end]).finally(() => {
      if (this.#ending.get(name) === ending) this.#ending.delete(name);
    });
    this.#ending.set(name, ending);
  }
}
