import { startsWithSession } from "../config/lifecycle.ts";
import type { ServerConfig } from "../config/record.ts";
import { excludedBy, isIncluded, unmatchedPatterns } from "../config/tool-filter.ts";
import type { Redactor } from "../content/redact.ts";
import { redactResult } from "../content/redact-result.ts";
import { sanitizeLine } from "../content/sanitize.ts";
import { McpServerError, messageOf } from "../error.ts";
import type { Listing } from "../protocol/connection.ts";
import { RequestTimeout, RpcError } from "../protocol/errors.ts";
import type { CallToolResult, JsonObject, Progress, ToolDefinition } from "../protocol/types.ts";
import { handlersFor } from "./handlers.ts";
import { Link } from "./link.ts";
import type { Live } from "./live.ts";
import type { Surroundings } from "./open-transport.ts";
import { perform } from "./perform.ts";
import type { ServerPort } from "./port.ts";

/** How many tool names an error lists. */
const NAMES_SHOWN = 40;
/** A server that is odd in more ways than this is odd. */
const MAX_NOTICES = 20;
const NOTICE_CHARS = 400;
const PROGRESS_CHARS = 200;
/** How many names a notice lists. */
const MAX_MISFITS = 5;

export interface ServerRequest {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** One configured server: its operations, and what is known of it without asking. */
export class Server {
  readonly config: ServerConfig;
  readonly #port: ServerPort;
  readonly #link: Link;
  /** The tools as last listed, by the connection they were listed on: another one may have others. */
  #listed: { readonly live: Live; readonly tools: readonly ToolDefinition[]; readonly complete: boolean } | undefined;
  /** Tools asked for by name, where there is no list. */
  #found: { readonly live: Live; readonly tools: Map<string, ToolDefinition> } | undefined;
  /** Why they could not be listed, though it is connected [E187]. */
  #listingTrouble: string | undefined;
  readonly #notices = new Set<string>();
  /** What of its configuration does not fit the tools it last had. */
  #misfits: readonly string[] = [];

  constructor(config: ServerConfig, surroundings: Surroundings, port: ServerPort) {
    this.config = config;
    this.#port = port;
    const events = { toolsChanged: () => this.#relist(), notice: (text: string) => this.#notice(text) };
    this.#link = new Link(config, surroundings, handlersFor(config, port, events));
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
    return [...this.#notices, ...this.#misfits];
  }

  /** Why it is not running, when it has failed or stopped, or why its tools are not known. */
  get trouble(): string | undefined {
    return this.#link.trouble ?? this.#listingTrouble;
  }

  knownTool(name: string): ToolDefinition | undefined {
    return this.#listed?.tools.find((tool) => tool.name === name) ?? this.#found?.tools.get(name);
  }

  async listTools({ signal, timeoutMs }: ServerRequest): Promise<readonly ToolDefinition[]> {
    const options = { signal, timeoutMs: timeoutMs ?? this.config.policy.startTimeoutMs };
    try {
      return await perform(this.#link, this.config, {
        signal,
        operate: async (live) => this.#keep(live, await live.connection.listTools(options)),
      });
    } catch (error) {
      if (this.state === "ready") this.#listingTrouble = messageOf(error);
      throw error;
    }
  }

  async callTool(tool: string, args: JsonObject | undefined, request: ServerRequest): Promise<CallToolResult> {
    await this.#mustHave(tool, request.signal);
    const { signal, onProgress } = request;
    const timeoutMs = request.timeoutMs ?? this.config.policy.callTimeoutMs;
    const annotations = () => this.knownTool(tool)?.annotations;
    return perform(this.#link, this.config, {
      signal,
      annotations,
      operate: async ({ connection, redact }) => {
        const options = { signal, timeoutMs, onProgress: onProgress && cleaned(onProgress, redact.results) };
        return redactResult(await connection.callTool(tool, args, options), redact.results);
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

  /** Ends the connection and the process. Never rejects. */
  close(): Promise<void> {
    return this.#link.close();
  }

  #keep(live: Live, listing: Listing<ToolDefinition>): readonly ToolDefinition[] {
    for (const notice of listing.notices) this.#notice(live.redact.listings.text(notice));
    const included = listing.items.filter(({ name }) => isIncluded(this.config, name));
    const tools = included.map((tool) => withCleanTexts(tool, live.redact.listings));
    if (listing.complete) this.#misfits = this.#findMisfits(listing.items, tools.length);
    this.#listed = { live, tools, complete: listing.complete };
    this.#listingTrouble = undefined;
    return tools;
  }

  /** A name that was misspelt includes nothing, and excludes nothing either. */
  #findMisfits(tools: readonly ToolDefinition[], included: number): string[] {
    const names = tools.map(({ name }) => name);
    const misfits = unmatchedPatterns(this.config, names).map(([field, patterns]) => {
      const shown = patterns.slice(0, MAX_MISFITS).map((pattern) => JSON.stringify(sanitizeLine(pattern, 60)));
      const more = patterns.length > MAX_MISFITS ? ` and ${patterns.length - MAX_MISFITS} more` : "";
      return `it has no tool ${shown.join(", ")}${more}, which ${placeOf(this.config, field)} names`;
    });
    if (tools.length > 0 && included === 0)
      misfits.push(`the configuration leaves out all of its ${tools.length} tools`);
    for (const text of misfits) if (!this.#misfits.includes(text)) this.#port.notice?.(this.config.name, text);
    return misfits;
  }

  /** The server says its tools have changed. When they cannot be listed now, the last list stays [E185]. */
  async #relist(): Promise<void> {
    if (this.state !== "ready") return;
    await this.listTools({});
    this.#port.toolsChanged?.(this.config.name);
  }

  /**
   * A tool that the configuration leaves out is none, which needs no asking. A name that is not among the known tools is
   * answered here, with the names there are; but the list may be older than the tool, so it is read once more first.
   */
  async #mustHave(tool: string, signal: AbortSignal | undefined): Promise<void> {
    if (!isIncluded(this.config, tool)) {
      const place = placeOf(this.config, excludedBy(this.config, tool));
      const text = `its tool \`${sanitizeLine(tool, 100)}\` is left out by the configuration, ${place}`;
      throw new McpServerError(this.config.name, "unknown-tool", `MCP server \`${this.config.name}\`: ${text}`);
    }
    if (!this.#isCurrent() && (await this.#finds(tool, signal))) return;
    const isKnown = () => !this.#isCurrent() || !this.#listed?.complete || this.knownTool(tool) !== undefined;
    if (isKnown()) return;
    await this.listTools({ signal });
    if (isKnown()) return;
    const tools = this.#listed?.tools ?? [];
    const names = tools.slice(0, NAMES_SHOWN).map(({ name }) => sanitizeLine(name, 100));
    const more = tools.length > NAMES_SHOWN ? ", …" : "";
    const message = `MCP server \`${this.config.name}\` has no tool \`${sanitizeLine(tool, 100)}\` (available: ${names.join(", ")}${more})`;
    throw new McpServerError(this.config.name, "unknown-tool", message);
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
        this.#found.tools.set(tool, withCleanTexts(definition, live.redact.listings));
        return "yes";
      } catch (error) {
        if (error instanceof RpcError || error instanceof RequestTimeout) return "unclear";
        throw error;
      }
    };
    const found = await perform(this.#link, this.config, { signal, operate });
    if (found === "unclear") await this.listTools({ signal });
    if (found !== "no") return found === "yes";
    const message = `MCP server \`${this.config.name}\` has no tool \`${sanitizeLine(tool, 100)}\` (the server was asked for it by name; list its tools to see all)`;
    throw new McpServerError(this.config.name, "unknown-tool", message);
  }

  #isCurrent(): boolean {
    return this.#listed !== undefined && this.#listed.live === this.#link.live;
  }

  #notice(text: string): void {
    const line = sanitizeLine(text, NOTICE_CHARS);
    if (this.#notices.has(line) || this.#notices.size >= MAX_NOTICES) return;
    this.#notices.add(line);
    this.#port.notice?.(this.config.name, line);
  }
}

/** Direct tools that no file names are named by the variable. */
function placeOf({ fields }: ServerConfig, field: string): string {
  const place = fields[field];
  return place === undefined ? "MCP_DIRECT_TOOLS" : `"${field}" in ${place.file}:${place.line}`;
}

/** Words are for people; names and schemas are for calls and stay as they are. */
function withCleanTexts(tool: ToolDefinition, redactor: Redactor): ToolDefinition {
  const { title, description } = tool;
  return {
    ...tool,
    ...(title !== undefined && { title: redactor.text(title) }),
    ...(description !== undefined && { description: redactor.text(description) }),
  };
}

/** Progress is shown as it comes: its message is the server's text like any other. */
function cleaned(onProgress: (progress: Progress) => void, redactor: Redactor): (progress: Progress) => void {
  return ({ message, ...progress }) =>
    onProgress(
      message === undefined ? progress : { ...progress, message: sanitizeLine(redactor.text(message), PROGRESS_CHARS) },
    );
}
