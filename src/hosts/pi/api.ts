/**
 * What this extension uses of pi, as both hosts have it (0.73 and 1.x). Declared here because a built extension that
 * imports a host package, even for a class, may load a second copy of it; a type test holds these against both hosts.
 */

/** The colours of pi's theme that are used here. */
export type PiColor =
  | "accent"
  | "border"
  | "dim"
  | "error"
  | "muted"
  | "success"
  | "text"
  | "toolOutput"
  | "toolTitle"
  | "warning";

export interface PiTheme {
  fg(color: PiColor, text: string): string;
  bold(text: string): string;
}

/** What pi draws. No line may be wider than `width`: that ends pi. */
export interface PiComponent {
  render(width: number): string[];
  /** Drops what was kept of an earlier drawing: the theme may be another. */
  invalidate(): void;
}

export interface PiRenderContext {
  /** Kept by pi for one call, from its first drawing on. */
  readonly state: Record<string, unknown>;
  readonly expanded: boolean;
}

export interface PiContext {
  readonly cwd: string;
  /** 1.x alone says it. */
  readonly mode?: "tui" | "rpc" | "json" | "print";
  /** False in print and JSON mode: dialogs and notices go nowhere. */
  readonly hasUI: boolean;
  readonly sessionManager?: {
    getSessionId(): string;
    /** Where the session is kept, if it is. */
    getSessionFile(): string | undefined;
  };
  readonly ui: {
    notify(message: string, type?: "info" | "warning" | "error"): void;
    /** One of the options, of which the first is marked at the start; undefined when the dialog was dismissed. */
    select(title: string, options: string[], more?: { signal?: AbortSignal }): Promise<string | undefined>;
    /** A line of text; undefined when the dialog was dismissed. 0.73 does not show the placeholder. */
    input(title: string, placeholder?: string, more?: { signal?: AbortSignal }): Promise<string | undefined>;
    /** A text of several lines. */
    editor?(title: string, prefill?: string): Promise<string | undefined>;
    /** In a terminal: what the factory makes has the keyboard until it is done. Elsewhere the factory is not called. */
    custom?<T>(
      factory: (tui: PiTerminal, theme: PiTheme, keys: PiKeys, done: (result: T) => void) => PiView,
    ): Promise<T | undefined>;
    /** A line below the editor, for as long as it has a text. */
    setStatus?(key: string, text: string | undefined): void;
    /** Without an effect where there is no editor. */
    addAutocompleteProvider?(factory: (current: PiAutocomplete) => PiAutocomplete): void;
  };
}

/** What a command gets. */
export interface PiCommandContext extends PiContext {
  /** Whether the agent is not at work. */
  isIdle(): boolean;
}

export interface PiTerminal {
  readonly terminal: { readonly rows: number };
  requestRender(): void;
}

export interface PiKeys {
  // biome-ignore lint/suspicious/noExplicitAny: each host has a type for the names it knows
  matches(data: string, binding: any): boolean;
}

export interface PiView extends PiComponent {
  handleInput(data: string): void;
  dispose?(): void;
}

export type PiContent = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

export interface PiToolResult {
  content: PiContent[];
  details: unknown;
  /** Honoured by 1.x; 0.73 is told by the `tool_result` handler. */
  isError?: boolean;
  /** What scripts of `codemode` get (0.99 and later). */
  // biome-ignore lint/suspicious/noExplicitAny: the host's own type for JSON
  structuredContent?: any;
}

/** What 0.99 and later make of a tool; older ones take no notice and make it active. */
export interface PiToolTraits {
  /** `deferred`: not declared, but found by the host's own tools; `hidden`: withdrawn. */
  exposure?: "direct" | "deferred" | "hidden";
  namespace?: { name: string; aliases: string[]; description?: string; instructions?: string };
  annotations?: {
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
  };
  // biome-ignore lint/suspicious/noExplicitAny: as `parameters`
  outputSchema?: any;
}

export interface PiTool extends PiToolTraits {
  name: string;
  label: string;
  description: string;
  promptSnippet?: string;
  promptGuidelines?: string[];
  // biome-ignore lint/suspicious/noExplicitAny: both hosts take plain JSON Schema and type it as a TypeBox schema
  parameters: any;
  execute(
    toolCallId: string,
    params: unknown,
    signal: AbortSignal | undefined,
    onUpdate: ((partial: { content: PiContent[]; details: unknown }) => void) | undefined,
  ): Promise<PiToolResult>;
  /** Drawn from the first word of the arguments on, anew with each change; above the result. */
  renderCall?(args: unknown, theme: PiTheme, context: PiRenderContext): PiComponent;
  renderResult?(
    result: PiDrawnResult,
    options: { expanded: boolean; isPartial: boolean },
    theme: PiTheme,
    context: PiRenderContext,
  ): PiComponent;
}

export type PiToolRenderers = Required<Pick<PiTool, "renderCall" | "renderResult">>;

export interface PiDrawnResult {
  /** Of a session of another version it may hold anything. */
  readonly content?: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly details?: unknown;
}

export interface PiCompletion {
  value: string;
  label: string;
  description?: string;
}

/** What completes a text in the editor, the cursor at a line and a column of it. */
export interface PiAutocomplete {
  triggerCharacters?: string[];
  getSuggestions(
    lines: string[],
    line: number,
    column: number,
    options: { signal: AbortSignal; force?: boolean },
  ): Promise<{ items: PiCompletion[]; prefix: string } | null>;
  /** The text with an item in the place of the prefix. */
  applyCompletion(
    lines: string[],
    line: number,
    column: number,
    item: PiCompletion,
    prefix: string,
  ): { lines: string[]; cursorLine: number; cursorCol: number };
  shouldTriggerFileCompletion?(lines: string[], line: number, column: number): boolean;
}

export interface PiCommand<Completions = PiCompletion[] | null> {
  description: string;
  getArgumentCompletions(prefix: string): Completions;
  handler(args: string, ctx: PiContext): Promise<void>;
}

/** Before a tool runs (1.x and 0.73). */
export interface PiToolCallEvent {
  toolName: string;
}

export interface PiToolResultEvent {
  toolName: string;
  details: unknown;
}

export interface PiApi {
  /** Before the session starts: a flag of the command line. */
  registerFlag(name: string, options: { type: "string" | "boolean"; description: string }): void;
  registerCommand(name: string, command: PiCommand | PiCommand<Promise<PiCompletion[] | null>>): void;
  /** A tool of a name that is known gets this definition; a new one is made active. */
  registerTool(tool: PiTool): void;
  /** A message as if the person had sent it. While the agent is at work it must be said when it is delivered. */
  sendUserMessage(content: PiContent[], options?: { deliverAs?: "steer" | "followUp" }): void;
  /** Names of the tools a model sees. */
  getActiveTools(): string[];
  /** All there are. `reachesTools`: it finds or calls tools that are not declared (0.99 and later). */
  getAllTools(): { name: string; reachesTools?: unknown }[];
  /** All of them: those not named are not seen. Names that are not known are ignored. */
  setActiveTools(names: string[]): void;
  on(event: "session_start", handler: (event: unknown, ctx: PiContext) => void): unknown;
  on(event: "session_shutdown", handler: (event: { reason: string }) => Promise<void>): unknown;
  on(event: "tool_call", handler: (event: PiToolCallEvent) => Promise<undefined>): unknown;
  on(event: "before_agent_start", handler: () => Promise<void>): unknown;
  on(event: "agent_start" | "agent_end", handler: () => void): unknown;
  on(event: "tool_result", handler: (event: PiToolResultEvent) => { isError: true } | undefined): unknown;
}

/** A server another extension has registered. */
export interface PiMcpServer {
  name: string;
  config: object;
  extensionPath: string;
}

/** What 0.99 and later have beside it. */
export interface PiMcpServersApi {
  getMcpServers(): PiMcpServer[];
  /** Whoever handles this says that it connects registered servers; otherwise pi calls each of them an error. */
  on(event: "mcp_servers_change", handler: () => void): unknown;
}

export function tellsMcpServers(pi: object): pi is PiMcpServersApi {
  return "getMcpServers" in pi && typeof pi.getMcpServers === "function";
}

/** How 0.99 and later ask for the drawing of calls, also of tools that are not registered (yet). */
export interface PiToolRendererApi {
  /** `next` gives what would draw it otherwise. */
  registerToolRenderer(resolver: (name: string, next: () => object | undefined) => object | undefined): void;
}

export function drawsUnknownTools(pi: object): pi is PiToolRendererApi {
  return "registerToolRenderer" in pi && typeof pi.registerToolRenderer === "function";
}

/** The model a person works with; passed back as it is. */
export interface PiModel {
  readonly id: string;
  readonly provider: string;
  readonly api: string;
}

/** What 1.x has in its context: a way to ask that model, with the credentials it is used with. */
export interface PiModelContext {
  readonly model: PiModel | undefined;
  readonly modelRegistry: {
    complete(
      model: PiModel,
      context: { systemPrompt?: string; messages: object[] },
      options: { maxTokens: number; temperature?: number; signal: AbortSignal },
    ): Promise<{
      readonly content: readonly { readonly type: string; readonly text?: string }[];
      readonly stopReason: string;
    }>;
  };
}

export function hasModel(context: object): context is PiModelContext {
  const { modelRegistry } = context as { modelRegistry?: { complete?: unknown } };
  return typeof modelRegistry?.complete === "function";
}
