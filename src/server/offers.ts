import type { KeptList, Offer, OfferList } from "../catalog/cache/record.ts";
import type { ServerConfig } from "../config/record.ts";
import { REDACTED } from "../content/redact-patterns.ts";
import { redactContents, redactPrompt } from "../content/redact-result.ts";
import { McpServerError } from "../error.ts";
import type { ConnectionRequest, Listing, McpConnection } from "../protocol/connection.ts";
import { decodePrompt } from "../protocol/decode/prompt.ts";
import { decodeResource, decodeResourceTemplate } from "../protocol/decode/resource.ts";
import { CODE, ProtocolError, RpcError } from "../protocol/errors.ts";
import type { Decoded } from "../protocol/list.ts";
import type {
  Completion,
  CompletionArgument,
  CompletionRef,
  JsonObject,
  Prompt,
  PromptResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from "../protocol/types.ts";
import { offerOf, type ServerCatalogue, wireItem } from "./catalogue.ts";
import type { Link } from "./link.ts";
import type { Live } from "./live.ts";
import { perform } from "./perform.ts";
import type { ServerRequest } from "./request.ts";

/** For lists nobody waits for. */
const QUIET_LIMIT_MS = 10_000;
/** The first revision in which a server says that it completes arguments; before it, any may. */
const COMPLETIONS_SINCE = "2025-03-26";

export interface OffersOptions {
  config(): ServerConfig;
  readonly catalogue: ServerCatalogue;
  notice(text: string): void;
  /** Something else is known than before. Who gives it is told of prompts as soon as there is a connection. */
  readonly changed?: (() => void) | undefined;
}

interface Listed {
  readonly raw: JsonObject;
}

interface ListMethod<T extends Listed> {
  ask(connection: McpConnection, options: ConnectionRequest): Promise<Listing<T>>;
  decode(value: unknown): Decoded<T>;
}

const PROMPTS: ListMethod<Prompt> = {
  ask: (connection, options) => connection.listPrompts(options),
  decode: decodePrompt,
};
const RESOURCES: ListMethod<Resource> = {
  ask: (connection, options) => connection.listResources(options),
  decode: decodeResource,
};
const TEMPLATES: ListMethod<ResourceTemplate> = {
  ask: (connection, options) => connection.listResourceTemplates(options).catch(none),
  decode: decodeResourceTemplate,
};
const METHODS = { prompts: PROMPTS, resources: RESOURCES, resourceTemplates: TEMPLATES } as const;

/** A server that has resources need not know of templates. */
function none(error: unknown): Listing<ResourceTemplate> {
  if (error instanceof RpcError && error.code === CODE.methodNotFound)
    return { items: [], complete: true, notices: [] };
  throw error;
}

/** A server is asked for nothing that it does not say it has (2025-06-18, lifecycle). */
function assertOffers({ capabilities }: McpConnection, offer: Offer): void {
  if (capabilities[offer] === undefined) throw new ProtocolError(`it says that it has no ${offer}`);
}

/**
 * What one server has beside tools. All of it only reads, so a request is repeated as a listing is. Lists come without
 * configured secrets, the same as they are kept.
 */
export class Offers {
  readonly #link: Link;
  readonly #options: OffersOptions;
  /** Listed in this session: listed again when the server says that they have changed. */
  readonly #listed = new Set<OfferList>();
  /** Addresses a configured secret was taken out of, and what the server calls them. */
  readonly #addresses = new Map<string, string>();

  constructor(link: Link, options: OffersOptions) {
    this.#link = link;
    this.#options = options;
  }

  listPrompts(request: ServerRequest): Promise<readonly Prompt[]> {
    return this.#list("prompts", PROMPTS, request);
  }

  listResources(request: ServerRequest): Promise<readonly Resource[]> {
    return this.#list("resources", RESOURCES, request);
  }

  listResourceTemplates(request: ServerRequest): Promise<readonly ResourceTemplate[]> {
    return this.#list("resourceTemplates", TEMPLATES, request);
  }

  async readResource(uri: string, request: ServerRequest): Promise<readonly ResourceContents[]> {
    this.#assertExposed();
    // Whoever was shown the address without its secret cannot have it otherwise.
    if (uri.includes(REDACTED) && !this.#addresses.has(uri)) await this.listResources({ signal: request.signal });
    const address = this.#addresses.get(uri) ?? uri;
    return this.#ask(request, async ({ connection, redact }, options) => {
      assertOffers(connection, "resources");
      const contents = await connection.readResource(address, options);
      return contents.map((part) => redactContents(part, redact.results));
    });
  }

  getPrompt(name: string, args: Readonly<Record<string, string>>, request: ServerRequest): Promise<PromptResult> {
    return this.#ask(request, async ({ connection, redact }, options) => {
      assertOffers(connection, "prompts");
      return redactPrompt(await connection.getPrompt(name, args, options), redact.results);
    });
  }

  /** Values that hold a configured secret are left out: what is left of them is none. */
  complete(ref: CompletionRef, argument: CompletionArgument, request: ServerRequest): Promise<Completion> {
    return this.#ask(request, async ({ connection, redact }, options) => {
      const { capabilities, protocolVersion } = connection;
      const isOffered = capabilities.completions !== undefined || protocolVersion < COMPLETIONS_SINCE;
      if (!isOffered) return { values: [], hasMore: false };
      const found = await connection.complete(ref, argument, options);
      return { ...found, values: found.values.filter((value) => redact.definitions.words.text(value) === value) };
    });
  }

  /** Notes what a server that has just been connected says that it has. Prompts are commands where a host follows them. */
  connected(live: Live): void {
    const { catalogue, changed } = this.#options;
    if (catalogue.meet(live)) changed?.();
    if (changed) void this.#relist("prompts", live);
  }

  /** The server says that a list has changed. When it cannot be listed now, what was known stays. */
  async listChanged(list: "prompts" | "resources"): Promise<void> {
    const { live } = this.#link;
    const names = Object.keys(METHODS) as OfferList[];
    const wanted = names.filter((name) => offerOf(name) === list && this.#listed.has(name));
    if (live) await Promise.all(wanted.map((name) => this.#relist(name, live)));
  }

  #list<T extends Listed>(
    name: OfferList,
    { ask, decode }: ListMethod<T>,
    { signal, timeoutMs }: ServerRequest,
  ): Promise<T[]> {
    const config = this.#options.config();
    if (config.hidesResources && offerOf(name) === "resources") return Promise.resolve([]);
    const options = { signal, timeoutMs: timeoutMs ?? config.policy.startTimeoutMs };
    return perform(this.#link, config, {
      signal,
      operate: async (live) => {
        if (live.connection.capabilities[offerOf(name)] === undefined) return [];
        const items = this.#keep(name, live, await ask(live.connection, options));
        return items.flatMap((item) => decode(item).item ?? []);
      },
    });
  }

  /** Beside what is under way on a connection: whatever comes of it changes nothing there. */
  async #relist(name: OfferList, live: Live): Promise<void> {
    if (live.connection.capabilities[offerOf(name)] === undefined) return;
    const timeoutMs = Math.min(QUIET_LIMIT_MS, this.#options.config().policy.startTimeoutMs);
    live.enter();
    try {
      this.#keep(name, live, await METHODS[name].ask(live.connection, { timeoutMs }));
    } catch {
      // What was known stays.
    } finally {
      this.#link.release(live);
    }
  }

  #keep(name: OfferList, live: Live, { items, complete, notices }: Listing<Listed>) {
    const { notice, catalogue, changed } = this.#options;
    for (const text of notices) notice(live.redact.listings.text(text));
    const list: KeptList = { items: items.flatMap(({ raw }) => this.#wire(name, raw, live)), complete };
    this.#listed.add(name);
    if (catalogue.takeList(live, name, list)) changed?.();
    return list.items;
  }

  #wire(name: OfferList, raw: JsonObject, live: Live): JsonObject[] {
    const item = wireItem(name, raw, live.redact);
    if (item === undefined) return [];
    if (item.uri !== raw.uri) this.#addresses.set(String(item.uri), String(raw.uri));
    return [item];
  }

  #ask<T>(request: ServerRequest, operate: (live: Live, options: ConnectionRequest) => Promise<T>): Promise<T> {
    const { signal, timeoutMs, onProgress } = request;
    const config = this.#options.config();
    const options = { signal, onProgress, timeoutMs: timeoutMs ?? config.policy.callTimeoutMs };
    return perform(this.#link, config, {
      signal,
      limit: timeoutMs === undefined ? "call" : "own",
      operate: async (live) => {
        const result = await operate(live, options);
        this.#link.answered();
        return result;
      },
    });
  }

  #assertExposed(): void {
    const { name, hidesResources, fields } = this.#options.config();
    if (!hidesResources) return;
    const { file, line } = fields.exposeResources ?? {};
    const text = `its resources are left out by the configuration, "exposeResources" in ${file}:${line}`;
    throw new McpServerError(name, "denied", `MCP server \`${name}\`: ${text}`);
  }
}
