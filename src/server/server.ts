import type { SignIn } from "../auth/sign-in.ts";
import type { CatalogueFolder } from "../catalog/cache/folder.ts";
import { startsWithSession } from "../config/lifecycle.ts";
import type { ServerConfig } from "../config/record.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import type { Era } from "../protocol/connection.ts";
import { Authorization } from "./authorization.ts";
import { type KnownOffers, ServerCatalogue } from "./catalogue.ts";
import { handlersFor, type ServerEvents } from "./handlers.ts";
import { Link } from "./link.ts";
import { Offers } from "./offers.ts";
import type { Surroundings } from "./open-transport.ts";
import { perform } from "./perform.ts";
import { ServerPins } from "./pins.ts";
import type { ServerPort } from "./port.ts";
import type { ServerRequest } from "./request.ts";
import { type SignInDoor, signInDoor } from "./sign-in.ts";
import { Tools } from "./tools.ts";

/** A server that is odd in more ways than this is odd. */
const MAX_NOTICES = 20;
const NOTICE_CHARS = 400;
/** Of a name or a version. */
const FACT_CHARS = 100;

/** What a server says of itself: clean text. */
export interface ServerFacts {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly name: string;
  readonly version: string;
  /** The names of what it says it can do. */
  readonly capabilities: readonly string[];
}

/** Folders of what is kept from one session to the next. */
export interface KeptFolders {
  readonly catalogue?: CatalogueFolder;
  readonly pins?: string;
}

export type CountedList = "resources" | "resourceTemplates" | "prompts";

/** One configured server: its operations, and what is known of it without asking. */
export class Server {
  #config: ServerConfig;
  readonly #port: ServerPort;
  readonly #link: Link;
  readonly #authorization: Authorization;
  /** For those who are asked to sign in. */
  readonly signIn: SignInDoor;
  readonly #notices = new Set<string>();
  readonly #catalogue: ServerCatalogue;
  readonly #pins: ServerPins;
  readonly tools: Tools;
  /** Its resources and prompts. */
  readonly offers: Offers;

  /**
   * `predecessor`: the end of a server whose place this one takes; it is not started before that. `destructive`: the names
   * of the tools that were declared so by a server of this name; kept up to date here. `kept`: where what is known of
   * servers is kept.
   */
  constructor(
    config: ServerConfig,
    surroundings: Surroundings,
    port: ServerPort,
    predecessor?: Promise<unknown>,
    destructive = new Set<string>(),
    kept: KeptFolders = {},
  ) {
    this.#config = config;
    this.#port = port;
    this.#catalogue = new ServerCatalogue(() => this.#config, surroundings.cwd, kept.catalogue);
    this.#pins = new ServerPins(
      () => this.#config,
      kept.pins,
      (text) => this.#port.pinsChanged?.(this.#config.name, text),
    );
    const { name, autoAuth } = config;
    const ask = autoAuth && port.askToSignIn && ((flow: SignIn) => port.askToSignIn?.(name, flow));
    this.#authorization = new Authorization(config, surroundings.env, ask);
    this.signIn = signInDoor(() => this.#config, surroundings, this.#authorization);
    const notice = (text: string) => this.#notice(text);
    const events: ServerEvents = {
      listChanged: (list) => (list === "tools" ? this.tools.listChanged() : this.offers.listChanged(list)),
      notice,
    };
    this.#link = new Link(
      config,
      { ...surroundings, authorization: this.#authorization },
      handlersFor(config, port, events),
      {
        predecessor,
        formerEra: () => this.#catalogue.era,
        connected: (live) => this.offers.connected(live),
        moved: () => this.#changed(),
      },
    );
    this.tools = new Tools(this.#link, {
      config: () => this.#config,
      catalogue: this.#catalogue,
      pins: this.#pins,
      destructive,
      notice,
      misfit: (text) => this.#port.notice?.(this.#config.name, text),
      changed: () => this.#changed(),
      toolsChanged: () => this.#port.toolsChanged?.(this.#config.name),
    });
    this.offers = new Offers(this.#link, {
      config: () => this.#config,
      catalogue: this.#catalogue,
      notice,
      changed: port.offersChanged && (() => port.offersChanged?.(this.#config.name)),
    });
  }

  get config(): ServerConfig {
    return this.#config;
  }

  /** The same server, whose entry stands elsewhere now. */
  relocate(config: ServerConfig): void {
    this.#config = config;
    this.#link.relocate(config);
    this.#authorization.relocate(config);
  }

  get state(): Link["state"] {
    return this.#link.state;
  }

  get pid(): number | undefined {
    return this.#link.live?.transport.pid;
  }

  get protocolVersion(): string | undefined {
    return this.#link.live?.connection.protocolVersion;
  }

  /** What was odd about it and has been mended, dropped or ignored: clean sentences, each once. */
  get notices(): readonly string[] {
    return [...this.#notices, ...this.tools.notices];
  }

  /** Why it is not running, when it has failed or stopped, or why its tools are not known. */
  get trouble(): string | undefined {
    return this.#link.trouble ?? this.tools.trouble;
  }

  /** The end of what its process has written to stderr: clean text without secrets. */
  get words(): string {
    return this.#link.words;
  }

  /** Its resources and prompts, likewise. */
  get knownOffers(): KnownOffers | undefined {
    return this.#catalogue.knownOffers;
  }

  /** What the server says of itself. Connects if need be. */
  async describe({ signal }: ServerRequest): Promise<ServerFacts> {
    return perform(this.#link, this.config, {
      signal,
      operate: ({ connection, redact }) => {
        const clean = (text: string) => sanitizeLine(redact.listings.text(text), FACT_CHARS);
        const { era, protocolVersion, serverInfo, capabilities } = connection;
        return Promise.resolve({
          era,
          protocolVersion,
          name: clean(serverInfo.name),
          version: clean(serverInfo.version),
          capabilities: Object.keys(capabilities).map(clean),
        });
      },
    });
  }

  /** How many it lists of what is no tool. Connects if need be. */
  async count(list: CountedList, { signal }: ServerRequest): Promise<number> {
    const options = { signal, timeoutMs: this.config.policy.startTimeoutMs };
    return perform(this.#link, this.config, {
      signal,
      operate: async ({ connection, redact }) => {
        const ask = {
          resources: connection.listResources,
          resourceTemplates: connection.listResourceTemplates,
          prompts: connection.listPrompts,
        };
        const listing = await ask[list](options);
        for (const notice of listing.notices) this.#notice(redact.listings.text(notice));
        return listing.items.length;
      },
    });
  }

  /** Connects and lists its tools, if it is to be connected with the session. Returns at once; `state` tells what came of it. */
  begin(): void {
    if (startsWithSession(this.config.policy)) void this.tools.list({}).catch(() => {});
  }

  /** A new connection in place of the old one, if there was one, with its tools listed. */
  async reconnect(request: ServerRequest): Promise<void> {
    await this.#link.reconnect(request.signal);
    await this.tools.list(request);
  }

  /** Ends the connection and the process; requests under way fail with the reason. Never rejects. */
  async close(reason?: string): Promise<void> {
    await Promise.all([this.#link.close(reason), this.#authorization.close().catch(() => {}), this.#pins.written()]);
  }

  /** Gives way to another server of its name; see `Link.retire`. */
  retire(): ReturnType<Link["retire"]> {
    return this.#link.retire();
  }

  #changed(): void {
    this.#port.changed?.(this.config.name);
  }

  #notice(text: string): void {
    const line = sanitizeLine(text, NOTICE_CHARS);
    if (this.#notices.has(line) || this.#notices.size >= MAX_NOTICES) return;
    this.#notices.add(line);
    this.#changed();
    this.#port.notice?.(this.config.name, line);
  }
}
