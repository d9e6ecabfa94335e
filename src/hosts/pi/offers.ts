import { catalogueFolder } from "../../catalog/cache/folder.ts";
import { catalogueIdentity } from "../../catalog/cache/identity.ts";
import type { Offer } from "../../catalog/cache/record.ts";
import type { ConfigChanges } from "../../config/changes.ts";
import { catalogueDir, personOf } from "../../config/paths.ts";
import type { ServerConfig } from "../../config/record.ts";
import { decodePrompt } from "../../protocol/decode/prompt.ts";
import type { Resource } from "../../protocol/types.ts";
import type { KnownOffers } from "../../server/catalogue.ts";
import type { McpSession } from "../../session/session.ts";
import { LIST_RESOURCES_TOOL, LIST_TEMPLATES_TOOL, READ_RESOURCE_TOOL } from "../../tools/resources-description.ts";
import type { PiApi, PiContext } from "./api.ts";
import type { PiTools } from "./pi-tools.ts";
import { PiPrompts } from "./prompts.ts";
import { resourceCompletion } from "./resources.ts";

type Engine = typeof import("./engine.ts");

/** Whoever types does not wait for a server. */
const COMPLETION_LIMIT_MS = 3_000;

const RESOURCE_TOOLS = [
  { tool: LIST_RESOURCES_TOOL, run: ({ runListResources }: Engine) => runListResources },
  { tool: LIST_TEMPLATES_TOOL, run: ({ runListResourceTemplates }: Engine) => runListResourceTemplates },
  { tool: READ_RESOURCE_TOOL, run: ({ runReadResource }: Engine) => runReadResource },
] as const;

/**
 * What servers have beside tools, as pi has it: tools that read resources, commands for prompts, `@server:uri` in the editor.
 * At the start of a session it is what was kept of earlier ones, since pi shows a command only where it is registered then.
 */
export class PiOffers {
  readonly #tools: PiTools;
  readonly #engine: () => Promise<[Engine, McpSession]>;
  readonly #prompts: PiPrompts;
  /** Names of servers that are known to have resources a model may read. */
  readonly #withResources = new Set<string>();
  #areToolsOffered = false;
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
      servers: () => [...this.#withResources].sort(),
      resources: (server: string, signal: AbortSignal) => this.#resourcesOf(server, signal),
    };
    ctx.ui.addAutocompleteProvider?.((current) => resourceCompletion(current, place));
  }

  /** Servers have come, changed or gone. Reads what was kept of them and starts nothing. */
  declare(servers: readonly ServerConfig[], cwd: string, { added, replaced, removed }: ConfigChanges): void {
    const folder = catalogueFolder(catalogueDir(personOf(process.env)));
    const changed = new Set([...added, ...replaced]);
    for (const name of removed) this.#note(name, [], []);
    for (const server of servers) {
      if (!changed.has(server.name)) continue;
      const { offers = [], prompts } = folder.readHead(catalogueIdentity(server, cwd)) ?? {};
      this.#note(
        server.name,
        server.hidesResources ? [] : offers,
        prompts?.items.flatMap((each) => decodePrompt(each).item ?? []) ?? [],
      );
    }
    this.#sync();
  }

  /** What is known of a server is other than it was. */
  learn({ name, hidesResources }: ServerConfig, { offers, prompts = [] }: KnownOffers): void {
    const isNew = this.#note(name, hidesResources ? [] : offers, prompts);
    this.#sync();
    // pi collects commands for its editor anew when it gets another completion; this one adds nothing.
    if (isNew && this.#ctx?.hasUI) this.#ctx.ui.addAutocompleteProvider?.((current) => current);
  }

  #note(server: string, offers: readonly Offer[], prompts: Parameters<PiPrompts["offer"]>[1]): boolean {
    if (offers.includes("resources")) this.#withResources.add(server);
    else this.#withResources.delete(server);
    return this.#prompts.offer(server, prompts);
  }

  /** The tools are there while any server has resources. */
  #sync(): void {
    const areWanted = this.#withResources.size > 0;
    if (areWanted === this.#areToolsOffered) return;
    this.#areToolsOffered = areWanted;
    if (!areWanted) this.#tools.withdraw(RESOURCE_TOOLS.map(({ tool }) => tool.name));
    for (const { tool, run } of areWanted ? RESOURCE_TOOLS : []) {
      this.#tools.offer(tool, async (call) => {
        const [engine, session] = await this.#engine();
        return run(engine)(session, call);
      });
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
