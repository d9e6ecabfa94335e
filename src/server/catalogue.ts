import type { CatalogueFolder } from "../catalog/cache/folder.ts";
import { catalogueIdentity } from "../catalog/cache/identity.ts";
import { type KeptCatalogue, TOOL_MEMBERS } from "../catalog/cache/record.ts";
import type { ServerFacts as ServerTexts } from "../catalog/search/fields.ts";
import type { ServerConfig } from "../config/record.ts";
import { isIncluded } from "../config/tool-filter.ts";
import { redactDefinition } from "../content/redact-definition.ts";
import type { Era, Listing } from "../protocol/connection.ts";
import { decodeTool } from "../protocol/decode/tool.ts";
import type { JsonObject, ToolDefinition } from "../protocol/types.ts";
import type { Live } from "./live.ts";

/** What is known of a server's tools without asking it, from this session or an earlier one. No configured secret is in it. */
export interface KnownTools {
  readonly server: ServerTexts;
  /** Those the configuration leaves there. */
  readonly tools: readonly ToolDefinition[];
  /** False when the server has more. */
  readonly complete: boolean;
}

/** A server may learn the newer protocol with any update: after this time it is asked again. */
const ERA_AGE_MS = 7 * 24 * 3_600_000;
/** A list that is the same is written anew only to say that it still is. */
const REWRITE_AFTER_MS = 3_600_000;

/** One server's tools as they were last listed, by whichever session. */
export class ServerCatalogue {
  readonly #config: () => ServerConfig;
  readonly #cwd: string;
  readonly #folder: CatalogueFolder | undefined;
  /** Undefined: not looked for yet. */
  #kept: KeptCatalogue | "none" | undefined;
  #known: KnownTools | undefined;
  #isListed = false;
  readonly #beganAt = Date.now();

  /** `folder`: where it lies; without one it is known for as long as this lives. */
  constructor(config: () => ServerConfig, cwd: string, folder: CatalogueFolder | undefined) {
    this.#config = config;
    this.#cwd = cwd;
    this.#folder = folder;
  }

  /** The same object until something else is known. */
  get known(): KnownTools | undefined {
    const kept = this.#read();
    if (kept !== undefined) this.#known ??= this.#decode(kept);
    return this.#known;
  }

  /** Whether all that is known was listed before this session began. */
  get isFormer(): boolean {
    return !this.#isListed && (this.#read()?.listedAt ?? this.#beganAt) < this.#beganAt;
  }

  /** Which protocol the server was found to speak not too long ago. */
  get era(): Era | undefined {
    const era = this.#read()?.era;
    const age = era === undefined ? Number.NaN : Date.now() - era.askedAt;
    return age >= 0 && age < ERA_AGE_MS ? era?.is : undefined;
  }

  /**
   * Takes a new listing; its tools as they are known from now on. One that gave nothing but trouble says less than what was
   * known before.
   */
  take({ connection, redact }: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    if (listing.items.length === 0 && (!listing.complete || listing.notices.length > 0)) return [];
    const former = this.#read();
    const { era, serverInfo, instructions } = connection;
    const texts = { title: serverInfo.title, description: serverInfo.description, instructions };
    const server = {
      name: redact.listings.text(serverInfo.name),
      version: redact.listings.text(serverInfo.version),
      ...Object.fromEntries(
        Object.entries(texts).flatMap(([name, text]) => (text ? [[name, redact.listings.text(text)]] : [])),
      ),
    };
    const tools = listing.items.map((tool) => wireTool(tool, redact)).filter((tool) => tool !== undefined);
    const complete = listing.complete && tools.length === listing.items.length;
    const now = Date.now();
    const isOtherVersion = former !== undefined && former.server.version !== server.version;
    const askedAt = isOtherVersion ? 0 : era === this.era && former !== undefined ? former.era.askedAt : now;
    const next: KeptCatalogue = { server, tools, complete, era: { is: era, askedAt }, listedAt: now };
    const isSame = former !== undefined && contentOf(former) === contentOf(next);
    this.#isListed = true;
    if (!isSame) this.#known = undefined;
    if (!isSame || now - former.listedAt >= REWRITE_AFTER_MS || now < former.listedAt) {
      this.#kept = next;
      this.#folder?.keep(this.#identity(), next);
    }
    return this.known?.tools ?? [];
  }

  #identity(): string {
    return catalogueIdentity(this.#config(), this.#cwd);
  }

  #read(): KeptCatalogue | undefined {
    this.#kept ??= this.#folder?.read(this.#identity()) ?? "none";
    return this.#kept === "none" ? undefined : this.#kept;
  }

  #decode({ server, tools, complete }: KeptCatalogue): KnownTools {
    const config = this.#config();
    const { title, description, instructions } = server;
    const decoded = tools.flatMap((tool) => decodeTool(tool).item ?? []);
    return {
      server: {
        name: config.name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(instructions !== undefined && { instructions }),
      },
      tools: decoded.filter(({ name }) => isIncluded(config, name)),
      complete,
    };
  }
}

/** A tool for whoever is not its server: without configured secrets. Undefined where its name gives one away. */
export function shownTool(tool: ToolDefinition, redact: Live["redact"]): ToolDefinition | undefined {
  const wire = wireTool(tool, redact);
  return wire && decodeTool(wire).item;
}

/** A tool as it is kept. One that is nested without end keeps its words. */
function wireTool(tool: ToolDefinition, { definitions, listings }: Live["redact"]): JsonObject | undefined {
  const { raw, name, description } = tool;
  if (definitions.words.text(name) !== name) return undefined;
  const members = TOOL_MEMBERS.flatMap((member) => (raw[member] === undefined ? [] : [[member, raw[member]]]));
  try {
    return redactDefinition(Object.fromEntries(members) as JsonObject, definitions);
  } catch {
    return { name, ...(description !== undefined && { description: listings.text(description) }) };
  }
}

function contentOf({ server, tools, complete, era }: KeptCatalogue): string {
  return JSON.stringify([server, tools, complete, era]);
}
