import type { CatalogueFolder } from "../catalog/cache/folder.ts";
import { catalogueIdentity } from "../catalog/cache/identity.ts";
import {
  type KeptCatalogue,
  type KeptList,
  type KeptLists,
  LIST_MEMBERS,
  OFFERS,
  type Offer,
  type OfferList,
  TOOL_MEMBERS,
} from "../catalog/cache/record.ts";
import type { ServerFacts as ServerTexts } from "../catalog/search/fields.ts";
import type { ServerConfig } from "../config/record.ts";
import { isIncluded } from "../config/tool-filter.ts";
import { redactDefinition } from "../content/redact-definition.ts";
import { isObject } from "../is-object.ts";
import type { Era, Listing } from "../protocol/connection.ts";
import { decodePrompt } from "../protocol/decode/prompt.ts";
import { decodeResource, decodeResourceTemplate } from "../protocol/decode/resource.ts";
import { decodeTool } from "../protocol/decode/tool.ts";
import type { JsonObject, Prompt, Resource, ResourceTemplate, ToolDefinition } from "../protocol/types.ts";
import type { Live } from "./live.ts";

/** What is known of a server's tools without asking it, from this session or an earlier one. No configured secret is in it. */
export interface KnownTools {
  readonly server: ServerTexts;
  /** Those the configuration leaves there. */
  readonly tools: readonly ToolDefinition[];
  /** False when the server has more. */
  readonly complete: boolean;
}

/**
 * What is known of what a server has beside tools, likewise. A list is absent until it was listed, which is when somebody
 * asks for it.
 */
export interface KnownOffers {
  readonly offers: readonly Offer[];
  readonly prompts?: readonly Prompt[];
  readonly resources?: readonly Resource[];
  readonly resourceTemplates?: readonly ResourceTemplate[];
}

/** A server may learn the newer protocol with any update: after this time it is asked again. */
const ERA_AGE_MS = 7 * 24 * 3_600_000;
/** A list that is the same is written anew only to say that it still is. */
const REWRITE_AFTER_MS = 3_600_000;

/** What one server was last found to have, by whichever session. */
export class ServerCatalogue {
  readonly #config: () => ServerConfig;
  readonly #cwd: string;
  readonly #folder: CatalogueFolder | undefined;
  /** Undefined: not looked for yet. */
  #kept: KeptCatalogue | "none" | undefined;
  #known: KnownTools | undefined;
  #knownOffers: KnownOffers | undefined;
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
    if (kept !== undefined && kept.listedAt > NEVER) this.#known ??= this.#decode(kept);
    return this.#known;
  }

  /** The same object until something else is known. */
  get knownOffers(): KnownOffers | undefined {
    const kept = this.#read();
    if (kept?.offers !== undefined) this.#knownOffers ??= decodeOffers(kept);
    return this.#knownOffers;
  }

  /** Whether all that is known was listed before this session began. */
  get isFormer(): boolean {
    const listedAt = this.#read()?.listedAt ?? NEVER;
    return !this.#isListed && listedAt > NEVER && listedAt < this.#beganAt;
  }

  /** Which protocol the server was found to speak not too long ago. */
  get era(): Era | undefined {
    const era = this.#read()?.era;
    const age = era === undefined ? Number.NaN : Date.now() - era.askedAt;
    return age >= 0 && age < ERA_AGE_MS ? era?.is : undefined;
  }

  /**
   * Takes a new listing of its tools; they are as they are known from now on. One that gave nothing but trouble says less than
   * what was known before.
   */
  take(live: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    if (listing.items.length === 0 && (!listing.complete || listing.notices.length > 0)) return [];
    const former = this.#read();
    const tools = listing.items.map((tool) => wireTool(tool, live.redact)).filter((tool) => tool !== undefined);
    const complete = listing.complete && tools.length === listing.items.length;
    const now = Date.now();
    const next = { ...former, ...this.#facts(live), ...offersOf(live, former), tools, complete, listedAt: now };
    const isSame = former !== undefined && contentOf(former) === contentOf(next);
    this.#isListed = true;
    if (!isSame) this.#known = undefined;
    if (!isSame || now - former.listedAt >= REWRITE_AFTER_MS || now < former.listedAt) this.#keep(next);
    return this.known?.tools ?? [];
  }

  /** Notes what else a server says that it has. Tells whether that was not known before. */
  meet(live: Live): boolean {
    const former = this.#read();
    const next = offersOf(live, former);
    if (JSON.stringify(former?.offers) === JSON.stringify(next.offers)) return false;
    this.#keep({ ...(former ?? this.#unlisted(live)), ...next });
    return true;
  }

  /** Takes a new listing of something else. Tells whether it differs from what was known before. */
  takeList(live: Live, name: OfferList, list: KeptList): boolean {
    const former = this.#read();
    if (JSON.stringify(former?.lists?.[name]) === JSON.stringify(list)) return false;
    const { offers, lists } = offersOf(live, former);
    this.#keep({ ...(former ?? this.#unlisted(live)), offers, lists: { ...lists, [name]: list } });
    return true;
  }

  #keep(next: KeptCatalogue): void {
    this.#kept = next;
    this.#knownOffers = undefined;
    this.#folder?.keep(this.#identity(), next);
  }

  #unlisted(live: Live): KeptCatalogue {
    return { ...this.#facts(live), tools: [], complete: false, listedAt: NEVER };
  }

  /** What a connection tells of its server. */
  #facts({ connection, redact }: Live): Pick<KeptCatalogue, "server" | "era"> {
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
    const isOtherVersion = former !== undefined && former.server.version !== server.version;
    const askedAt = isOtherVersion ? 0 : era === this.era && former !== undefined ? former.era.askedAt : Date.now();
    return { server, era: { is: era, askedAt } };
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

/** Of the tools of a server that were not listed yet. */
const NEVER = 0;

/** What a server has beside tools by its own word; lists of what it has no more are forgotten. */
function offersOf({ connection }: Live, former: KeptCatalogue | undefined) {
  const offers = OFFERS.filter((offer) => connection.capabilities[offer] !== undefined);
  const lists = Object.entries(former?.lists ?? {}).filter(([name]) => offers.includes(offerOf(name as OfferList)));
  return { offers, lists: Object.fromEntries(lists) as KeptLists };
}

/** The capability that a list comes with. */
export function offerOf(list: OfferList): Offer {
  return list === "prompts" ? "prompts" : "resources";
}

/** What is known of a server's offers, from what was kept. */
function decodeOffers({ offers = [], lists = {} }: KeptCatalogue): KnownOffers {
  const { prompts, resources, resourceTemplates } = lists;
  return {
    offers,
    ...(prompts && { prompts: decodeList(prompts, decodePrompt) }),
    ...(resources && { resources: decodeList(resources, decodeResource) }),
    ...(resourceTemplates && { resourceTemplates: decodeList(resourceTemplates, decodeResourceTemplate) }),
  };
}

function decodeList<T>({ items }: KeptList, decode: (value: unknown) => { readonly item?: T }): T[] {
  return items.flatMap((each) => decode(each).item ?? []);
}

/**
 * An entry of a list as it is kept and shown: with the members that are of use, without configured secrets. Undefined where
 * a name that is needed in a request gives one away; an address does without, see `Offers.readResource`.
 */
export function wireItem(list: OfferList, raw: JsonObject, { definitions }: Live["redact"]): JsonObject | undefined {
  const members = LIST_MEMBERS[list].flatMap((member) => (raw[member] === undefined ? [] : [[member, raw[member]]]));
  try {
    const item = redactDefinition(Object.fromEntries(members) as JsonObject, definitions);
    return list === "prompts" && namesOf(item) !== namesOf(raw) ? undefined : item;
  } catch {
    return undefined;
  }
}

/** Of a prompt and its arguments. */
function namesOf(prompt: JsonObject): string {
  const args = Array.isArray(prompt.arguments) ? prompt.arguments : [];
  return JSON.stringify([prompt.name, args.map((each: unknown) => (isObject(each) ? each.name : undefined))]);
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

function contentOf({ server, tools, complete, era, offers, lists }: KeptCatalogue): string {
  return JSON.stringify([server, tools, complete, era, offers, lists]);
}
