import { catalogueFolder } from "../../catalog/cache/folder.ts";
import { catalogueIdentity } from "../../catalog/cache/identity.ts";
import type { Offer } from "../../catalog/cache/record.ts";
import type { ConfigChanges } from "../../config/changes.ts";
import { possibleExposures } from "../../config/exposure.ts";
import { gatewayOf, type HostAbilities } from "../../config/gateways.ts";
import { catalogueDir, personOf } from "../../config/paths.ts";
import type { LoadedConfig, ServerConfig } from "../../config/record.ts";
import { decodePrompt } from "../../protocol/decode/prompt.ts";
import type { Prompt, Resource } from "../../protocol/types.ts";
import type { KnownOffers } from "../../server/catalogue.ts";
import type { McpSession } from "../../session/session.ts";
import { LIST_RESOURCES_TOOL, LIST_TEMPLATES_TOOL, READ_RESOURCE_TOOL } from "../../tools/resources-description.ts";
import type { ToolCall } from "../../tools/tool.ts";
import type { PiApi, PiContext } from "./api.ts";
import type { Engine } from "./live-session.ts";
import type { PiTools } from "./pi-tools.ts";
import { PiPrompts } from "./prompts.ts";
import { resourceCompletion } from "./resources.ts";

/** Whoever types does not wait for a server. */
const COMPLETION_LIMIT_MS = 3_000;

const RESOURCE_TOOLS = [
  { tool: LIST_RESOURCES_TOOL, run: ({ runListResources }: Engine) => runListResources },
  { tool: LIST_TEMPLATES_TOOL, run: ({ runListResourceTemplates }: Engine) => runListResourceTemplates },
  { tool: READ_RESOURCE_TOOL, run: ({ runReadResource }: Engine) => runReadResource },
] as const;

/** Where servers are declared. */
export interface OffersPlace extends HostAbilities {
  readonly config: LoadedConfig;
  readonly cwd: string;
}

/**
 * What servers have beside tools, as pi has it: tools that read resources, commands for prompts, `@server:uri` in the editor.
 * At the start of a session it is what was kept of earlier ones, since pi shows a command only where it is registered then.
 */
export class PiOffers {
  readonly #tools: PiTools;
  readonly #engine: () => Promise<[Engine, McpSession]>;
  readonly #prompts: PiPrompts;
  /** Servers that are known to have resources a model may read. */
  readonly #withResources = new Map<string, ServerConfig>();
  #ctx: PiContext | undefined;

  constructor(pi: PiApi, tools: PiTools, engine: () => Promise<[Engine, McpSession]>) {
    this.#tools = tools;
    this.#engine = engine;
    this.#prompts = new PiPrompts(pi, engine);
  }

  /** A session begins whose servers were declared: its editor completes what they offer. */
  begin(ctx: PiContext): void {
    this.#ctx = ctx;
    if (!ctx.hasUI) return;
    const place = {
      servers: () => [...this.#withResources.keys()].sort(),
      resources: (server: string, signal: AbortSignal) => this.#resourcesOf(server, signal),
    };
    ctx.ui.addAutocompleteProvider?.((current) => resourceCompletion(current, place));
  }

  /** Servers have come, changed or gone. Reads what was kept of them and starts nothing. */
  declare(place: OffersPlace, { added, replaced, removed }: ConfigChanges): void {
    const folder = catalogueFolder(catalogueDir(personOf(process.env)));
    const changed = new Set([...added, ...replaced]);
    for (const name of removed) {
      this.#withResources.delete(name);
      this.#prompts.offer(name, []);
    }
    for (const server of place.config.servers) {
      if (!changed.has(server.name)) continue;
      const { offers = [], prompts } = folder.readHead(catalogueIdentity(server, place.cwd)) ?? {};
      this.#note(server, offers, prompts?.items.flatMap((each) => decodePrompt(each).item ?? []) ?? []);
    }
    this.offerTools(place);
  }

  /** What is known of a server is other than it was. Its tools wait for the next prompt, see `offerTools`. */
  learn(server: ServerConfig, { offers, prompts = [] }: KnownOffers): void {
    const isNew = this.#note(server, offers, prompts);
    // pi collects commands for its editor anew when it gets another completion; this one adds nothing.
    if (isNew && this.#ctx?.hasUI) this.#ctx.ui.addAutocompleteProvider?.((current) => current);
  }

  #note(server: ServerConfig, offers: readonly Offer[], prompts: readonly Prompt[]): boolean {
    if (offers.includes("resources") && !server.hidesResources) this.#withResources.set(server.name, server);
    else this.#withResources.delete(server.name);
    return this.#prompts.offer(server.name, prompts);
  }

  /**
   * The tools are there while any server has resources: found by the host where it finds all else of these servers, and
   * otherwise declared. What a provider has cached of a run begins with the tools, so they change between runs, and within one
   * only where a result names them.
   */
  offerTools(host: HostAbilities): void {
    const servers = [...this.#withResources.values()];
    if (servers.length === 0) this.#tools.withdraw(RESOURCE_TOOLS.map(({ tool }) => tool.name));
    const areFound = servers.every(
      (server) => gatewayOf(server, host) === undefined && !possibleExposures(server).has("direct"),
    );
    for (const { tool, run } of servers.length === 0 ? [] : RESOURCE_TOOLS) {
      const offered = async (call: ToolCall) => {
        const [engine, session] = await this.#engine();
        return run(engine)(session, call);
      };
      this.#tools.offer(tool, offered, areFound ? "deferred" : "direct");
    }
  }

  /** As they are known, else listed once; the person who typed the name of the server is about to use it. */
  async #resourcesOf(server: string, signal: AbortSignal): Promise<readonly Resource[]> {
    const [, session] = await this.#engine();
    const known = session.knownOffers(server)?.resources;
    const { state } = session.status(server);
    if (known !== undefined || state === "failed" || state === "needs-auth") return known ?? [];
    const limit = AbortSignal.any([signal, AbortSignal.timeout(COMPLETION_LIMIT_MS)]);
    return session.listResources(server, { signal: limit });
  }
}
