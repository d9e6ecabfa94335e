import { isObject } from "../is-object.ts";
import { announcedLists, type ChangingList } from "./client-side.ts";
import type { ConnectionRequest, Listing, ListLimit, McpConnection } from "./connection.ts";
import { decodeCallResult } from "./decode/call-result.ts";
import { decodeCompletion } from "./decode/completion.ts";
import { decodePrompt, decodePromptResult } from "./decode/prompt.ts";
import { decodeContents, decodeResource, decodeResourceTemplate } from "./decode/resource.ts";
import { decodeTool } from "./decode/tool.ts";
import { CODE, ProtocolError, RequestTimeout, RpcError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { acceptsToolTasks, taskParameter } from "./legacy-task.ts";
import { type Decoded, listAll } from "./list.ts";
import { type Mirror, mirrorHeaders, readMirror } from "./mirror.ts";
import { pause } from "./pause.ts";
import { ResponseCache } from "./response-cache.ts";
import { retrying } from "./retry.ts";
import type { RpcChannel } from "./rpc.ts";
import { decodeSkill, readSkillFile, SKILLS_EXTENSION, withoutDoubles } from "./skills.ts";
import type { CallToolResult, JsonObject, ToolDefinition } from "./types.ts";

const RELIST_MS = 250;

interface CallableTool {
  readonly tool: ToolDefinition;
  readonly mirror: Mirror;
}

/** A connection's operations, the same in both eras: they differ in how a request is made, not in what it means. */
export class Operations {
  readonly #exchange: Exchange;
  readonly #channel: RpcChannel;
  readonly #limit: ListLimit;
  readonly #cache = new ResponseCache();
  /** Of the tools as last listed: what a call has to know of its tool. */
  #tools: ReadonlyMap<string, CallableTool> | undefined;
  /** Asked for by name, where there is no list. */
  readonly #found = new Map<string, CallableTool>();

  /** Its tools take longer than a check may: then it is only pinged. */
  #listsSlowly = false;

  constructor(exchange: Exchange, channel: RpcChannel, limit: ListLimit) {
    this.#exchange = exchange;
    this.#channel = channel;
    this.#limit = limit;
  }

  /** The lists whose changes the server will tell of. */
  get announcedLists(): ChangingList[] {
    return announcedLists(this.#exchange.capabilities);
  }

  forget(list: ChangingList): void {
    this.#cache.forget(list);
  }

  /** As the rest of the product holds it. */
  connection(): McpConnection {
    const { era, protocolVersion, serverInfo, capabilities, instructions } = this.#exchange;
    const read = (method: string, params: JsonObject, options: ConnectionRequest) =>
      this.#read(method, params, options);
    return {
      era,
      protocolVersion,
      serverInfo,
      capabilities,
      instructions,
      listTools: (options) => this.#listTools(options),
      ...(canSearch(capabilities) && { findTool: (name, options) => this.#findTool(name, options) }),
      callTool: (name, args, options) => this.#callTool(name, args, options),
      listResources: (options) => this.#list("resources/list", "resources", decodeResource, options),
      listResourceTemplates: (options) =>
        this.#list("resources/templates/list", "resourceTemplates", decodeResourceTemplate, options),
      readResource: async (uri, options) =>
        decodeContents(await this.#repeatably(options, () => read("resources/read", { uri }, options)), uri),
      listPrompts: (options) => this.#list("prompts/list", "prompts", decodePrompt, options),
      getPrompt: async (name, args, options) => {
        const get = () => this.#exchange.request("prompts/get", { name, arguments: args }, options);
        return decodePromptResult(await this.#repeatably(options, get));
      },
      complete: async (ref, { others, ...argument }, options) => {
        const params = {
          ref,
          argument,
          ...(others && Object.keys(others).length > 0 && { context: { arguments: others } }),
        };
        return decodeCompletion(await this.#exchange.request("completion/complete", params, options));
      },
      listSkills: async (options) => {
        const { extensions } = capabilities as { extensions?: JsonObject };
        if (!extensions?.[SKILLS_EXTENSION]) return { items: [], complete: true, notices: [] };
        const listed = await this.#list("skills/list", "skills", decodeSkill, options);
        const { items, notices } = withoutDoubles(listed.items);
        return { items, complete: listed.complete, notices: [...listed.notices, ...notices] };
      },
      readSkillFile: (skill, uri, options) => readSkillFile(read, skill, uri, options),
      ping: (options) => this.#ping(options),
      check: (options) => this.#check(options),
      close: () => this.#exchange.close(),
    };
  }

  async #listTools(options: ConnectionRequest): Promise<Listing<ToolDefinition>> {
    const listed = await this.#list("tools/list", "tools", decodeTool, options);
    const tools = new Map<string, CallableTool>();
    const notices = [...listed.notices];
    for (const tool of listed.items) {
      const mirror = this.#mirrorOf(tool);
      if (typeof mirror !== "string") tools.set(tool.name, { tool, mirror });
      else notices.push(`tool ${JSON.stringify(tool.name)} was left out: ${mirror}`);
    }
    this.#tools = tools;
    return { items: listed.items.filter(({ name }) => tools.has(name)), complete: listed.complete, notices };
  }

  async #findTool(name: string, options: ConnectionRequest): Promise<ToolDefinition | undefined> {
    const { tools } = await this.#exchange.request("tools/search", { name }, options);
    const tool = (Array.isArray(tools) ? tools : [])
      .map((each) => decodeTool(each).item)
      .find((item) => item?.name === name);
    const mirror = tool && this.#mirrorOf(tool);
    if (tool === undefined || mirror === undefined || typeof mirror === "string") return undefined;
    this.#found.set(name, { tool, mirror });
    return tool;
  }

  /** Or why a tool cannot be called. */
  #mirrorOf({ inputSchema }: ToolDefinition): Mirror | string {
    return this.#exchange.mirrorsArguments ? readMirror(inputSchema) : [];
  }

  async #callTool(name: string, args: JsonObject | undefined, options: ConnectionRequest): Promise<CallToolResult> {
    if (!this.#tools && !this.#found.has(name) && acceptsToolTasks(this.#exchange.capabilities))
      await this.#listTools(options);
    try {
      return await this.#callOnce(name, args, options);
    } catch (error) {
      // The server mirrors other arguments than we know of, and has not run the call (2026-07-28, custom headers).
      if (!(error instanceof RpcError && error.code === CODE.headerMismatch)) throw error;
      this.#cache.forget("tools");
      await this.#listTools(options);
      return this.#callOnce(name, args, options);
    }
  }

  async #callOnce(name: string, args: JsonObject | undefined, options: ConnectionRequest): Promise<CallToolResult> {
    const known = this.#tools?.get(name) ?? this.#found.get(name);
    const task = taskParameter(this.#exchange.capabilities, known?.tool);
    const params = { name, ...(args && { arguments: args }), ...(task && { task }) };
    const headers = mirrorHeaders(known?.mirror ?? [], args ?? {});
    return decodeCallResult(
      await this.#exchange.request("tools/call", params, { ...options, headers, withProgress: true }),
    );
  }

  async #check(options: ConnectionRequest): Promise<void> {
    if (!this.#listsSlowly) {
      try {
        await this.#exchange.request("tools/list", {}, options);
        return;
      } catch (error) {
        if (error instanceof RpcError || error instanceof ProtocolError) return;
        if (!(error instanceof RequestTimeout)) throw error;
      }
    }
    await this.#ping(options);
    this.#listsSlowly = true;
  }

  async #ping(options: ConnectionRequest): Promise<void> {
    const method = this.#exchange.era === "legacy" ? "ping" : "server/discover";
    try {
      await this.#exchange.request(method, {}, options);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }

  #list<T>(
    method: string,
    key: string,
    decode: (value: unknown) => Decoded<T>,
    options: ConnectionRequest,
  ): Promise<Listing<T>> {
    const until = performance.now() + options.timeoutMs;
    const limits = { remainingMs: () => until - performance.now(), signal: options.signal };
    const page = (params: JsonObject) =>
      retrying(this.#channel, limits, () => this.#readTwice(method, params, options));
    return listAll(page, key, decode, this.#limit);
  }

  /** What only reads is sent again after a passing failure, as a listing is. */
  #repeatably<T>({ timeoutMs, signal }: ConnectionRequest, request: () => Promise<T>): Promise<T> {
    const until = performance.now() + timeoutMs;
    return retrying(this.#channel, { remainingMs: () => until - performance.now(), signal }, request);
  }

  /** A server that has only just started may not have its lists together yet [E187]. */
  async #readTwice(method: string, params: JsonObject, options: ConnectionRequest): Promise<JsonObject> {
    try {
      return await this.#read(method, params, options);
    } catch (error) {
      if (!(error instanceof RpcError && error.code === CODE.internal)) throw error;
      await this.#channel.between(options.signal, (either) => pause(RELIST_MS, either));
      return this.#read(method, params, options);
    }
  }

  /** What the server said may be kept is not asked for again. */
  async #read(method: string, params: JsonObject, options: ConnectionRequest): Promise<JsonObject> {
    const kept = this.#cache.get(method, params);
    if (kept) return kept;
    const { generation } = this.#cache;
    const result = await this.#exchange.request(method, params, options);
    this.#cache.put(method, params, result, generation);
    return result;
  }
}

/** Of a server with more tools than it likes to list: in its place, or where it was before it had one [S1-49, S1-50]. */
function canSearch({ tools, experimental }: JsonObject): boolean {
  return [tools, experimental].some(
    (place) => isObject(place) && (place.search_tool === true || isObject(place.search_tool)),
  );
}
