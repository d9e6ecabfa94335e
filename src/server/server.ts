import type { SignIn } from "../auth/sign-in.ts";
import type { CatalogueFolder } from "../catalog/cache/folder.ts";
import type { PinChange } from "../catalog/pins/definition.ts";
import { startsWithSession } from "../config/lifecycle.ts";
import type { ServerConfig } from "../config/record.ts";
import { isIncluded } from "../config/tool-filter.ts";
import type { Redactor } from "../content/redact.ts";
import { redactResult } from "../content/redact-result.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { messageOf } from "../error.ts";
import type { Era, Listing } from "../protocol/connection.ts";
import { RequestTimeout, RpcError } from "../protocol/errors.ts";
import type { CallToolResult, JsonObject, Progress, ToolAnnotations, ToolDefinition } from "../protocol/types.ts";
import { Authorization } from "./authorization.ts";
import { type KnownOffers, type KnownTools, ServerCatalogue, shownTool } from "./catalogue.ts";
import { filterMisfits } from "./filter-misfits.ts";
import { handlersFor, type ServerEvents } from "./handlers.ts";
import { Link } from "./link.ts";
import type { Live } from "./live.ts";
import { Offers } from "./offers.ts";
import type { Surroundings } from "./open-transport.ts";
import { perform } from "./perform.ts";
import { ServerPins } from "./pins.ts";
import type { ServerPort } from "./port.ts";
import type { ServerRequest } from "./request.ts";
import { type SignInDoor, signInDoor } from "./sign-in.ts";
import { assertIncluded, notFound, notListed, soundsUnknown, soundsUnknownIn } from "./unknown-tool.ts";

/** A server that is odd in more ways than this is odd. */
const MAX_NOTICES = 20;
const NOTICE_CHARS = 400;
const PROGRESS_CHARS = 200;
/** Of a name or a version. */
const FACT_CHARS = 100;
/** For the list that is asked for only to word an error better: the error is there already. */
const REFUSAL_LIST_MS = 5_000;

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

export interface PinState {
  /** `off`: nothing is recorded; `unlisted`: nothing was accepted yet. */
  readonly state: "off" | "unlisted" | "pinned";
  readonly changes: readonly PinChange[];
}

export type CountedList = "resources" | "resourceTemplates" | "prompts";

interface Listed {
  readonly live: Live;
  /** Without configured secrets, as all definitions that leave a server. */
  readonly tools: readonly ToolDefinition[];
  /** Also of a tool that is not shown, since its name gives a secret away. */
  readonly names: ReadonlySet<string>;
  readonly complete: boolean;
}

/** One configured server: its operations, and what is known of it without asking. */
export class Server {
  #config: ServerConfig;
  readonly #port: ServerPort;
  readonly #link: Link;
  readonly #authorization: Authorization;
  /** For those who are asked to sign in. */
  readonly signIn: SignInDoor;
  /** Of its tools, also when they were listed by a server whose place this one has taken. */
  readonly #destructive: Set<string>;
  /** The tools as last listed, by the connection they were listed on: another one may have others. */
  #listed: Listed | undefined;
  /** Tools asked for by name, where there is no list. */
  #found: { readonly live: Live; readonly tools: Map<string, ToolDefinition | undefined> } | undefined;
  /** Why they could not be listed, though it is connected [E187]. */
  #listingTrouble: string | undefined;
  readonly #notices = new Set<string>();
  /** What of its configuration does not fit the tools it last had. */
  #misfits: readonly string[] = [];
  readonly #catalogue: ServerCatalogue;
  /** Its resources and prompts. */
  readonly offers: Offers;
  readonly #pins: ServerPins;
  /** What is known as it is shown, and of what it was made. */
  #shown: { readonly known: KnownTools; readonly as: KnownTools } | undefined;
  #isRefreshed = false;

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
    this.#destructive = destructive;
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
      listChanged: (list) => (list === "tools" ? this.#relist() : this.offers.listChanged(list)),
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

  get toolCount(): number | undefined {
    return this.#listed?.tools.length;
  }

  get pid(): number | undefined {
    return this.#link.live?.transport.pid;
  }

  get protocolVersion(): string | undefined {
    return this.#link.live?.connection.protocolVersion;
  }

  /** What was odd about it and has been mended, dropped or ignored: clean sentences, each once. */
  get notices(): readonly string[] {
    return [...this.#notices, ...this.#misfits, ...this.#pins.notices];
  }

  /** Why it is not running, when it has failed or stopped, or why its tools are not known. */
  get trouble(): string | undefined {
    return this.#link.trouble ?? this.#listingTrouble;
  }

  /** The end of what its process has written to stderr: clean text without secrets. */
  get words(): string {
    return this.#link.words;
  }

  /** Its tools as they were last listed, in this session or an earlier one. Starts nothing. */
  get known(): KnownTools | undefined {
    const { known } = this.#catalogue;
    if (known === undefined) return undefined;
    const tools = this.#pins.shown(known.tools);
    if (tools === known.tools) return known;
    if (this.#shown?.known !== known || this.#shown.as.tools !== tools)
      this.#shown = { known, as: { ...known, tools } };
    return this.#shown.as;
  }

  /** What of its tools is not as it was accepted. Starts nothing. Throws McpServerError where that cannot be read. */
  get pinState(): PinState {
    const { known } = this.#catalogue;
    if (this.#config.policy.pin === "off") return { state: "off", changes: [] };
    if (known === undefined || !this.#pins.isPinned) return { state: "unlisted", changes: [] };
    return { state: "pinned", changes: this.#pins.changes(known.tools) };
  }

  /** Accepts tools as they are known; all of them without names. The names of those that had waited. */
  async acceptPins(names: readonly string[] | undefined): Promise<readonly string[]> {
    const tools = this.#catalogue.known?.tools ?? [];
    const missing = names?.find((name) => !tools.some((tool) => tool.name === name));
    if (missing !== undefined) throw notListed(this.config, missing, tools);
    const waiting = this.pinState.changes.map(({ tool }) => tool).filter((tool) => names?.includes(tool) ?? true);
    await this.#pins.accept(tools, names);
    if (waiting.length > 0) {
      this.#port.toolsChanged?.(this.config.name);
      this.#changed();
    }
    return waiting;
  }

  /** Its resources and prompts, likewise. */
  get knownOffers(): KnownOffers | undefined {
    return this.#catalogue.knownOffers;
  }

  /** One of its tools, from what is known; lists them where it is not there. */
  async findTool(tool: string, request: ServerRequest): Promise<ToolDefinition> {
    assertIncluded(this.config, tool);
    const among = () => this.known?.tools.find(({ name }) => name === tool);
    const known = among();
    if (known !== undefined) return known;
    await this.listTools(request);
    const listed = among();
    if (listed === undefined) throw notListed(this.config, tool, this.known?.tools ?? []);
    return listed;
  }

  /** The definition as it was listed on a connection of this session, without configured secrets. */
  knownTool(name: string): ToolDefinition | undefined {
    const tool = this.#listed?.tools.find((each) => each.name === name) ?? this.#found?.tools.get(name);
    return tool && this.#pins.shownTool(tool);
  }

  /** What a tool says of itself, as a connection of this session has it. Connects; throws `unknown-tool` where there is none. */
  async annotationsOf(tool: string, signal: AbortSignal | undefined): Promise<ToolAnnotations> {
    assertIncluded(this.config, tool);
    if (!this.#isCurrent()) await this.listTools({ signal });
    await this.#mustHave(tool, signal);
    await this.#mustBeAccepted(tool, signal);
    return this.knownTool(tool)?.annotations ?? {};
  }

  async listTools({ signal, timeoutMs }: ServerRequest): Promise<readonly ToolDefinition[]> {
    const options = { signal, timeoutMs: timeoutMs ?? this.config.policy.startTimeoutMs };
    try {
      return await perform(this.#link, this.config, {
        signal,
        operate: async (live) => this.#keep(live, await live.connection.listTools(options)),
      });
    } catch (error) {
      if (this.state === "ready") {
        this.#listingTrouble = messageOf(error);
        this.#changed();
      }
      throw error;
    }
  }

  async callTool(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    const { signal } = request;
    await this.#mustHave(tool, signal);
    await this.#mustBeAccepted(tool, signal);
    try {
      const result = await this.#call(tool, args, request);
      void this.#refresh();
      if (soundsUnknownIn(result)) await this.#refuseUnlisted(tool, signal);
      return result;
    } catch (error) {
      if (soundsUnknown(error)) await this.#refuseUnlisted(tool, signal);
      throw error;
    }
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
    if (startsWithSession(this.config.policy)) void this.listTools({}).catch(() => {});
  }

  /** A new connection in place of the old one, if there was one, with its tools listed. */
  async reconnect(request: ServerRequest): Promise<void> {
    await this.#link.reconnect(request.signal);
    await this.listTools(request);
  }

  /** Ends the connection and the process; requests under way fail with the reason. Never rejects. */
  async close(reason?: string): Promise<void> {
    await Promise.all([this.#link.close(reason), this.#authorization.close().catch(() => {}), this.#pins.written()]);
  }

  /** Gives way to another server of its name; see `Link.retire`. */
  retire(): ReturnType<Link["retire"]> {
    return this.#link.retire();
  }

  #call(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    const { signal, onProgress } = request;
    const timeoutMs = request.timeoutMs ?? this.config.policy.callTimeoutMs;
    return perform(this.#link, this.config, {
      signal,
      limit: request.timeoutMs === undefined ? "call" : "own",
      annotations: () => this.#annotationsOf(tool),
      operate: async ({ connection, redact }) => {
        const options = { signal, timeoutMs, onProgress: onProgress && cleaned(onProgress, redact.results) };
        return redactResult(await connection.callTool(tool, args, options), redact.results);
      },
    });
  }

  /** Until the tools are listed, one that was destructive under another entry is taken to be so still. */
  #annotationsOf(tool: string): ToolDefinition["annotations"] | undefined {
    const known = this.knownTool(tool)?.annotations;
    return known ?? (this.#destructive.has(tool) ? { destructiveHint: true } : undefined);
  }

  /** What waits for a person's word is not called, whoever asks. */
  async #mustBeAccepted(tool: string, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#pins.isStrict) return;
    if (!this.#isCurrent()) await this.listTools({ signal });
    const definition = this.#catalogue.known?.tools.find(({ name }) => name === tool);
    if (definition !== undefined) this.#pins.assertAccepted(definition);
  }

  /** Takes a listing. From here on there are its tools without configured secrets, and no others. */
  #keep(live: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    for (const notice of listing.notices) this.#notice(live.redact.listings.text(notice));
    const included = listing.items.filter(({ name }) => isIncluded(this.config, name));
    if (listing.complete) this.#noteMisfits(filterMisfits(this.config, listing.items, included.length));
    const former = this.#catalogue.isFormer ? this.#catalogue.known : undefined;
    const tools = this.#catalogue.take(live, listing);
    this.#pins.check(tools);
    const hidden = included.length - tools.length;
    if (hidden > 0) this.#notice(`${hidden} of its tools left out: a configured secret stands in the name`);
    this.#listed = { live, tools, names: new Set(included.map(({ name }) => name)), complete: listing.complete };
    if (former !== undefined && this.#catalogue.known !== former) this.#port.toolsChanged?.(this.config.name);
    for (const { name, annotations } of included) {
      if (annotations.destructiveHint) this.#destructive.add(name);
      else this.#destructive.delete(name);
    }
    this.#listingTrouble = undefined;
    this.#changed();
    return this.#pins.shown(tools);
  }

  #noteMisfits(misfits: readonly string[]): void {
    for (const text of misfits) if (!this.#misfits.includes(text)) this.#port.notice?.(this.config.name, text);
    this.#misfits = misfits;
  }

  /** The server says its tools have changed. When they cannot be listed now, the last list stays [E185]. */
  async #relist(): Promise<void> {
    if (this.state !== "ready") return;
    await this.listTools({});
    this.#port.toolsChanged?.(this.config.name);
  }

  /** What is known from an earlier session is held against the server once it has shown that it works. Never rejects. */
  async #refresh(): Promise<void> {
    if (this.#isRefreshed || !this.#catalogue.isFormer) return;
    this.#isRefreshed = true;
    await this.listTools({}).catch(() => {});
  }

  /**
   * A name that is not among the known tools is answered here, with the names there are; but the list may be older than the
   * tool, so it is read once more first.
   */
  async #mustHave(tool: string, signal: AbortSignal | undefined): Promise<void> {
    assertIncluded(this.config, tool);
    if (!this.#isCurrent() && (await this.#finds(tool, signal))) return;
    const isKnown = () => !this.#isCurrent() || !this.#listed?.complete || this.#listed.names.has(tool);
    if (isKnown()) return;
    await this.listTools({ signal });
    if (isKnown()) return;
    throw notListed(this.config, tool, this.#listed?.tools ?? []);
  }

  /**
   * After an answer that sounds as if there were no such tool: servers say that in many ways, as an error or as a tool's
   * result, so their list decides. It is asked for now, if it was not before; a call that goes well costs no listing.
   */
  async #refuseUnlisted(tool: string, signal: AbortSignal | undefined): Promise<void> {
    const timeoutMs = Math.min(REFUSAL_LIST_MS, this.config.policy.startTimeoutMs);
    if (!this.#isCurrent()) await this.listTools({ signal, timeoutMs }).catch(() => {});
    if (this.#listed === undefined || !this.#isCurrent() || !this.#listed.complete) return;
    if (!this.#listed.names.has(tool)) throw notListed(this.config, tool, this.#listed.tools);
  }

  /**
   * Asks a server that can be asked for one tool [S1-49], once for each. Its "no" is final; an error is no answer, and the
   * whole list tells instead. False also where a server cannot be asked.
   */
  async #finds(tool: string, signal: AbortSignal | undefined): Promise<boolean> {
    const operate = async (live: Live) => {
      const { findTool } = live.connection;
      if (!findTool) return "unasked";
      if (this.#found?.live !== live) this.#found = { live, tools: new Map() };
      if (this.#found.tools.has(tool)) return "yes";
      try {
        const definition = await findTool(tool, { signal, timeoutMs: this.config.policy.startTimeoutMs });
        if (definition === undefined) return "no";
        this.#found.tools.set(tool, shownTool(definition, live.redact));
        return "yes";
      } catch (error) {
        if (error instanceof RpcError || error instanceof RequestTimeout) return "unclear";
        throw error;
      }
    };
    const found = await perform(this.#link, this.config, { signal, operate });
    if (found === "unclear") await this.listTools({ signal });
    if (found === "no") throw notFound(this.config, tool);
    return found === "yes";
  }

  #changed(): void {
    this.#port.changed?.(this.config.name);
  }

  #isCurrent(): boolean {
    return this.#listed !== undefined && this.#listed.live === this.#link.live;
  }

  #notice(text: string): void {
    const line = sanitizeLine(text, NOTICE_CHARS);
    if (this.#notices.has(line) || this.#notices.size >= MAX_NOTICES) return;
    this.#notices.add(line);
    this.#changed();
    this.#port.notice?.(this.config.name, line);
  }
}

/** Progress is shown as it comes: its message is the server's text like any other. */
function cleaned(onProgress: (progress: Progress) => void, redactor: Redactor): (progress: Progress) => void {
  return ({ message, ...progress }) =>
    onProgress(
      message === undefined ? progress : { ...progress, message: sanitizeLine(redactor.text(message), PROGRESS_CHARS) },
    );
}
