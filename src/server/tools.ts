import type { PinChange } from "../catalog/pins/definition.ts";
import type { ServerConfig } from "../config/record.ts";
import { isIncluded } from "../config/tool-filter.ts";
import type { Redactor } from "../content/redact.ts";
import { redactResult } from "../content/redact-result.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { messageOf } from "../error.ts";
import type { Listing } from "../protocol/connection.ts";
import { RequestTimeout, RpcError } from "../protocol/errors.ts";
import type { CallToolResult, JsonObject, Progress, ToolAnnotations, ToolDefinition } from "../protocol/types.ts";
import { TransportError } from "../transport/transport.ts";
import { type KnownTools, type ServerCatalogue, shownTool } from "./catalogue.ts";
import { toServerError } from "./failure.ts";
import { filterMisfits } from "./filter-misfits.ts";
import type { Link } from "./link.ts";
import type { Live } from "./live.ts";
import { perform } from "./perform.ts";
import type { ServerPins } from "./pins.ts";
import type { ServerRequest } from "./request.ts";
import { assertIncluded, notFound, notListed, soundsUnknown, soundsUnknownIn } from "./unknown-tool.ts";

/** For the list that is asked for only to word an error better: the error is there already. */
const REFUSAL_LIST_MS = 5_000;
const PROGRESS_CHARS = 200;

export interface PinState {
  /** `off`: nothing is recorded; `unlisted`: nothing was accepted yet. */
  readonly state: "off" | "unlisted" | "pinned";
  readonly changes: readonly PinChange[];
}

export interface ToolsOptions {
  config(): ServerConfig;
  readonly catalogue: ServerCatalogue;
  readonly pins: ServerPins;
  /** Names of the tools that were declared destructive, also by a server whose place this one has taken; kept up to date. */
  readonly destructive: Set<string>;
  /** Something odd: kept, and told once. */
  notice(text: string): void;
  /** What of the configuration does not fit the tools: told, and kept by these. */
  misfit(text: string): void;
  /** Something is known that was not. */
  changed(): void;
  /** Its tools are others than were known. */
  toolsChanged(): void;
}

interface Listed {
  readonly live: Live;
  /** Without configured secrets, as all definitions that leave a server. */
  readonly tools: readonly ToolDefinition[];
  /** Also of a tool that is not shown, since its name gives a secret away. */
  readonly names: ReadonlySet<string>;
  readonly complete: boolean;
}

/** The tools of one server: listed, found, accepted and called; and what is known of them without asking. */
export class Tools {
  readonly #link: Link;
  readonly #options: ToolsOptions;
  /** The tools as last listed, by the connection they were listed on: another one may have others. */
  #listed: Listed | undefined;
  /** Tools asked for by name, where there is no list. */
  #found: { readonly live: Live; readonly tools: Map<string, ToolDefinition | undefined> } | undefined;
  /** Why they could not be listed, though it is connected [E187]. */
  #listingTrouble: string | undefined;
  /** What of its configuration does not fit the tools it last had. */
  #misfits: readonly string[] = [];
  /** What is known as it is shown, and of what it was made. */
  #shown: { readonly known: KnownTools; readonly as: KnownTools } | undefined;
  #isRefreshed = false;

  constructor(link: Link, options: ToolsOptions) {
    this.#link = link;
    this.#options = options;
  }

  get count(): number | undefined {
    return this.#listed?.tools.length;
  }

  /** Why they are not known, though the server is connected. */
  get trouble(): string | undefined {
    return this.#listingTrouble;
  }

  /** What is said of the last listing: clean sentences. */
  get notices(): readonly string[] {
    return [...this.#misfits, ...this.#pins.notices];
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

  /**
   * Accepts tools as they are known; all of them without names. The names of those that had waited. Rejects with
   * McpServerError where none is known: an empty set would make each tool of the first list a new one.
   */
  async accept(names: readonly string[] | undefined): Promise<readonly string[]> {
    const { tools, complete } = this.#catalogue.known ?? { tools: [], complete: false };
    if (this.#pins.isOn && tools.length === 0) throw this.#pins.unlisted();
    const missing = names?.find((name) => !tools.some((tool) => tool.name === name));
    if (missing !== undefined) throw notListed(this.#config, missing, tools);
    const waiting = this.pinState.changes.map(({ tool }) => tool).filter((tool) => names?.includes(tool) ?? true);
    await this.#pins.accept(tools, names, complete);
    if (waiting.length > 0) {
      this.#options.toolsChanged();
      this.#options.changed();
    }
    return waiting;
  }

  /** One of its tools, from what is known; lists them where it is not there. */
  async find(tool: string, request: ServerRequest): Promise<ToolDefinition> {
    assertIncluded(this.#config, tool);
    const among = () => this.known?.tools.find(({ name }) => name === tool);
    const known = among();
    if (known !== undefined) return known;
    await this.list(request);
    const listed = among();
    if (listed === undefined) throw notListed(this.#config, tool, this.known?.tools ?? []);
    return listed;
  }

  /** The definition as it was listed on a connection of this session, without configured secrets. */
  knownOf(name: string): ToolDefinition | undefined {
    const tool = this.#listed?.tools.find((each) => each.name === name) ?? this.#found?.tools.get(name);
    return tool && this.#pins.shownTool(tool);
  }

  /** What a tool says of itself, as a connection of this session has it. Connects; throws `unknown-tool` where there is none. */
  async annotationsOf(tool: string, signal: AbortSignal | undefined): Promise<ToolAnnotations> {
    assertIncluded(this.#config, tool);
    if (!this.#isCurrent()) await this.list({ signal });
    await this.#mustHave(tool, signal);
    await this.#mustBeAccepted(tool, signal);
    return this.knownOf(tool)?.annotations ?? {};
  }

  async list({ signal, timeoutMs }: ServerRequest): Promise<readonly ToolDefinition[]> {
    const options = { signal, timeoutMs: timeoutMs ?? this.#config.policy.startTimeoutMs };
    try {
      return await perform(this.#link, this.#config, {
        signal,
        operate: async (live) => this.#keep(live, await live.connection.listTools(options)),
      });
    } catch (error) {
      if (this.#link.state === "ready") {
        this.#listingTrouble = messageOf(error);
        this.#options.changed();
      }
      throw error;
    }
  }

  async call(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    const { signal } = request;
    await this.#mustHave(tool, signal);
    await this.#mustBeAccepted(tool, signal);
    try {
      const result = await this.#send(tool, args, request);
      void this.#refresh();
      if (soundsUnknownIn(result)) await this.#refuseUnlisted(tool, signal);
      return result;
    } catch (error) {
      if (soundsUnknown(error)) await this.#refuseUnlisted(tool, signal);
      throw error;
    }
  }

  #send(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    const { signal, onProgress } = request;
    const timeoutMs = request.timeoutMs ?? this.#config.policy.callTimeoutMs;
    return perform(this.#link, this.#config, {
      signal,
      limit: request.timeoutMs === undefined ? "call" : "own",
      annotations: () => this.#annotationsOf(tool),
      operate: async (live) => {
        await this.#mustBeAcceptedOn(live, tool, signal);
        const { connection, redact } = live;
        const options = { signal, timeoutMs, onProgress: onProgress && cleaned(onProgress, redact.results) };
        return redactResult(await connection.callTool(tool, args, options), redact.results);
      },
    });
  }

  /** Until the tools are listed, one that was destructive under another entry is taken to be so still. */
  #annotationsOf(tool: string): ToolDefinition["annotations"] | undefined {
    const known = this.knownOf(tool)?.annotations;
    return known ?? (this.#options.destructive.has(tool) ? { destructiveHint: true } : undefined);
  }

  /** What waits for a person's word is not called, whoever asks. */
  async #mustBeAccepted(tool: string, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#pins.isStrict) return;
    if (!this.#isCurrent()) await this.list({ signal });
    this.#assertAccepted(tool);
  }

  /**
   * The same on the very connection a call goes out on: a new one may be to another program. Rejects with McpServerError,
   * or with what became of the listing; of that the call was no part, so it may follow on yet another connection.
   */
  async #mustBeAcceptedOn(live: Live, tool: string, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#pins.isStrict) return;
    if (this.#listed?.live !== live) {
      const options = { signal, timeoutMs: this.#config.policy.startTimeoutMs };
      this.#keep(
        live,
        await live.connection.listTools(options).catch((error: unknown) => this.#rejectUnsent(live, error)),
      );
    }
    this.#assertAccepted(tool);
  }

  /** A listing before a call failed: whatever became of it, the call was not sent. */
  #rejectUnsent(live: Live, thrown: unknown): never {
    if (!(thrown instanceof TransportError)) {
      throw toServerError(thrown, { config: this.#config, redactor: live.redact.errors, during: "request" });
    }
    const { failure, message, delivery, http, cause } = thrown;
    const isOver = delivery === "rejected" || failure === "malformed";
    throw new TransportError(failure, message, isOver ? "rejected" : "not-sent", { cause, ...(http && { http }) });
  }

  /** By the last listing. What is in none, as its list was cut or is silent of it, nobody can have accepted as it is now. */
  #assertAccepted(tool: string): void {
    const listed = this.#listed?.tools.find(({ name }) => name === tool);
    const found = this.#found?.live === this.#listed?.live ? this.#found?.tools.get(tool) : undefined;
    const definition = listed ?? (this.#pins.isPinned ? found : undefined);
    if (definition === undefined) throw this.#pins.unseen(tool);
    this.#pins.assertAccepted(definition);
  }

  /** Takes a listing. From here on there are its tools without configured secrets, and no others. */
  #keep(live: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    for (const notice of listing.notices) this.#options.notice(live.redact.listings.text(notice));
    const included = listing.items.filter(({ name }) => isIncluded(this.#config, name));
    if (listing.complete) this.#noteMisfits(filterMisfits(this.#config, listing.items, included.length));
    const former = this.#catalogue.isFormer ? this.#catalogue.known : undefined;
    const tools = this.#catalogue.take(live, listing);
    this.#pins.check(tools);
    const hidden = included.length - tools.length;
    if (hidden > 0) this.#options.notice(`${hidden} of its tools left out: a configured secret stands in the name`);
    this.#listed = { live, tools, names: new Set(included.map(({ name }) => name)), complete: listing.complete };
    if (former !== undefined && this.#catalogue.known !== former) this.#options.toolsChanged();
    for (const { name, annotations } of included) {
      if (annotations.destructiveHint) this.#options.destructive.add(name);
      else this.#options.destructive.delete(name);
    }
    this.#listingTrouble = undefined;
    this.#options.changed();
    return this.#pins.shown(tools);
  }

  #noteMisfits(misfits: readonly string[]): void {
    for (const text of misfits) if (!this.#misfits.includes(text)) this.#options.misfit(text);
    this.#misfits = misfits;
  }

  /** The server says its tools have changed. When they cannot be listed now, the last list stays [E185]. */
  async listChanged(): Promise<void> {
    if (this.#link.state !== "ready") return;
    await this.list({});
    this.#options.toolsChanged();
  }

  /** What is known from an earlier session is held against the server once it has shown that it works. Never rejects. */
  async #refresh(): Promise<void> {
    if (this.#isRefreshed || !this.#catalogue.isFormer) return;
    this.#isRefreshed = true;
    await this.list({}).catch(() => {});
  }

  /**
   * A name that is not among the known tools is answered here, with the names there are; but the list may be older than the
   * tool, so it is read once more first.
   */
  async #mustHave(tool: string, signal: AbortSignal | undefined): Promise<void> {
    assertIncluded(this.#config, tool);
    if (!this.#isCurrent() && (await this.#finds(tool, signal))) return;
    const isKnown = () => !this.#isCurrent() || !this.#listed?.complete || this.#listed.names.has(tool);
    if (isKnown()) return;
    await this.list({ signal });
    if (isKnown()) return;
    throw notListed(this.#config, tool, this.#listed?.tools ?? []);
  }

  /**
   * After an answer that sounds as if there were no such tool: servers say that in many ways, as an error or as a tool's
   * result, so their list decides. It is asked for now, if it was not before; a call that goes well costs no listing.
   */
  async #refuseUnlisted(tool: string, signal: AbortSignal | undefined): Promise<void> {
    const timeoutMs = Math.min(REFUSAL_LIST_MS, this.#config.policy.startTimeoutMs);
    if (!this.#isCurrent()) await this.list({ signal, timeoutMs }).catch(() => {});
    if (this.#listed === undefined || !this.#isCurrent() || !this.#listed.complete) return;
    if (!this.#listed.names.has(tool)) throw notListed(this.#config, tool, this.#listed.tools);
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
        const definition = await findTool(tool, { signal, timeoutMs: this.#config.policy.startTimeoutMs });
        if (definition === undefined) return "no";
        this.#found.tools.set(tool, shownTool(definition, live.redact));
        return "yes";
      } catch (error) {
        if (error instanceof RpcError || error instanceof RequestTimeout) return "unclear";
        throw error;
      }
    };
    const found = await perform(this.#link, this.#config, { signal, operate });
    if (found === "unclear") await this.list({ signal });
    if (found === "no") throw notFound(this.#config, tool);
    return found === "yes";
  }

  get #config(): ServerConfig {
    return this.#options.config();
  }

  get #catalogue(): ServerCatalogue {
    return this.#options.catalogue;
  }

  get #pins(): ServerPins {
    return this.#options.pins;
  }

  #isCurrent(): boolean {
    return this.#listed !== undefined && this.#listed.live === this.#link.live;
  }
}

/** Progress is shown as it comes: its message is the server's text like any other. */
function cleaned(onProgress: (progress: Progress) => void, redactor: Redactor): (progress: Progress) => void {
  return ({ message, ...progress }) =>
    onProgress(
      message === undefined ? progress : { ...progress, message: sanitizeLine(redactor.text(message), PROGRESS_CHARS) },
    );
}
