import { tmpdir } from "node:os";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { catalogueFolder } from "../catalog/cache/folder.ts";
import { findUntrusted } from "../config/consent.ts";
import { keepPermission } from "../config/keep-permission.ts";
import { catalogueDir, personOf, pinsDir } from "../config/paths.ts";
import type { LoadedConfig, PermissionSettings, UntrustedFile } from "../config/record.ts";
import { describeUnused } from "../config/unused.ts";
import { createSpillStore } from "../content/spill.ts";
import { McpServerError } from "../error.ts";
import { withoutHandedOver } from "../server/environment.ts";
import { Replaced } from "../server/link.ts";
import type { Surroundings } from "../server/open-transport.ts";
import { endOrphans } from "../server/orphans.ts";
import type { ServerPort } from "../server/port.ts";
import { Server } from "../server/server.ts";
import { createPermit, type PermitOptions, type UseRequest } from "./permit.ts";
import { createSearch } from "./search.ts";
import { ServerSet } from "./server-set.ts";
import type { McpSession, ServerStatus, SessionPort } from "./session.ts";

const NOTHING_ASKED: PermissionSettings = { mode: "yolo", rules: [], kept: [] };

/**
 * A session that owns its servers: each is a private process or connection, ended with the session. `port` is what the
 * host offers to servers; the folder the session works in is offered when it says nothing else.
 */
export function createSession(config: LoadedConfig, given: Surroundings, port: SessionPort = {}): McpSession {
  const surroundings = { ...given, env: withoutHandedOver(given.env) };
  endOrphans(surroundings.env);
  const roots = [{ uri: pathToFileURL(surroundings.cwd).href }];
  const watchers = new Set<() => void>();
  const tellWatchers = () => {
    for (const watcher of watchers) watcher();
  };
  const offered: ServerPort = {
    roots,
    ...port,
    changed: (server) => {
      port.changed?.(server);
      tellWatchers();
    },
  };
  const person = personOf(surroundings.env);
  const kept = { catalogue: catalogueFolder(catalogueDir(person)), pins: pinsDir(person) };
  const servers = new ServerSet(config, (server, predecessor, destructive) => {
    const made = new Server(server, surroundings, offered, predecessor, destructive, kept);
    made.begin();
    return made;
  });

  const find = (name: string): Server => {
    const server = servers.get(name);
    if (server) return server;
    const project = findUntrusted(servers.config.untrusted, name);
    if (project) throw new McpServerError(name, "denied", notAllowed(name, project.file));
    const unused = servers.config.unused?.find((entry) => entry.name === name);
    if (unused) throw new McpServerError(name, "unknown-server", `MCP server \`${name}\` ${describeUnused(unused)}`);
    const known = servers.names.join(", ");
    const hint = known === "" ? "no MCP servers are configured" : `configured: ${known}`;
    throw new McpServerError(name, "unknown-server", `no MCP server configured with name \`${name}\`; ${hint}`);
  };

  /** A request that the server had no time to send before it was replaced goes to the one in its place. */
  const ask = async <T>(name: string, request: (server: Server) => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await request(find(name));
      } catch (thrown) {
        if (!(thrown instanceof Replaced)) throw thrown;
      }
    }
  };

  const makePermit = () =>
    createPermit({
      settings: () => servers.config.permission,
      port: port.permission,
      keep: (permission) => keepPermission(person, permission),
    });
  let permit = makePermit();

  /**
   * A request that uses something of a server (a tool that is called, a resource that is read, a prompt that is fetched), once that is allowed. Another server in its place is another question. To list what there is, or to complete a word of it,
   * is no use.
   */
  const use = <T>(name: string, what: UseRequest, options: PermitOptions, request: (server: Server) => Promise<T>) =>
    ask(name, async (server) => {
      await permit(server, what, options);
      return request(server);
    });

  const search = createSearch(() => servers.names.map(find));
  const spill = createSpillStore({ parent: surroundings.env.TMPDIR ?? tmpdir() });
  const close = async ({ keepResults = keepsResults(surroundings.env) } = {}): Promise<void> => {
    await servers.close();
    await spill.end(keepResults ? "keep" : "remove");
  };

  const beginConversation = async ({ keepResults = keepsResults(surroundings.env) } = {}): Promise<void> => {
    permit = makePermit();
    if (!keepResults) await spill.clear();
  };

  return {
    get servers() {
      return servers.config.servers;
    },
    get problems() {
      return servers.config.problems;
    },
    get untrusted() {
      return servers.config.untrusted ?? [];
    },
    get unused() {
      return servers.config.unused ?? [];
    },
    get permission() {
      return servers.config.permission ?? NOTHING_ASKED;
    },
    config: (name) => find(name).config,
    spill,
    knownTool: (name, tool) => find(name).tools.knownOf(tool),
    knownTools: (name) => find(name).tools.known,
    search: (query, options = {}) => {
      if (options.server !== undefined) find(options.server);
      return search(query, options);
    },
    findTool: (name, tool, options = {}) => ask(name, (server) => server.tools.find(tool, options)),
    status: (name) => statusOf(find(name)),
    describe: (name, options = {}) => ask(name, (server) => server.describe(options)),
    count: (name, list, options = {}) => ask(name, (server) => server.count(list, options)),
    listTools: (name, options = {}) => ask(name, (server) => server.tools.list(options)),
    callTool: (name, tool, args, options = {}) =>
      use(name, { kind: "tool", name: tool, args }, options, (server) => server.tools.call(tool, args, options)),
    knownOffers: (name) => find(name).knownOffers,
    listResources: (name, options = {}) => ask(name, ({ offers }) => offers.listResources(options)),
    listResourceTemplates: (name, options = {}) => ask(name, ({ offers }) => offers.listResourceTemplates(options)),
    listPrompts: (name, options = {}) => ask(name, ({ offers }) => offers.listPrompts(options)),
    complete: (name, ref, argument, options = {}) => ask(name, ({ offers }) => offers.complete(ref, argument, options)),
    readResource: (name, uri, options = {}) =>
      use(name, { kind: "resource", name: uri }, options, ({ offers }) => offers.readResource(uri, options)),
    getPrompt: (name, prompt, args, options = {}) =>
      use(name, { kind: "prompt", name: prompt, args }, options, ({ offers }) =>
        offers.getPrompt(prompt, args, options),
      ),
    pins: (name) => find(name).tools.pinState,
    acceptPins: (name, tools) => ask(name, (server) => server.tools.accept(tools)),
    signIn: (name) => find(name).signIn,
    reconnect: async (name, options = {}) => {
      await ask(name, (server) => server.reconnect(options));
      return statusOf(find(name));
    },
    words: (name) => find(name).words,
    watch: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    update: (next) => {
      const done = servers.update(next);
      tellWatchers();
      return done;
    },
    beginConversation,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Set to anything but nothing, `0` or `false`. */
function keepsResults({ PI_MCP_KEEP_RESULTS: value = "" }: NodeJS.ProcessEnv): boolean {
  return !["", "0", "false"].includes(value.trim().toLowerCase());
}

function notAllowed(name: string, { file, state }: UntrustedFile): string {
  const which = `MCP server \`${name}\` is configured by a file of this project, ${basename(file)}`;
  const why = state === "denied" ? "a person has denied" : "nobody has allowed yet";
  return `${which}, which ${why}; run \`pi-mcp trust\` (in pi: /mcp trust) to see what it would run and to decide`;
}

function statusOf(server: Server): ServerStatus {
  const { tools, protocolVersion, pid, trouble, notices } = server;
  return {
    name: server.config.name,
    state: server.state,
    notices,
    ...(tools.count !== undefined && { toolCount: tools.count }),
    ...(protocolVersion !== undefined && { protocolVersion }),
    ...(pid !== undefined && { pid }),
    ...(trouble !== undefined && { error: trouble }),
  };
}
