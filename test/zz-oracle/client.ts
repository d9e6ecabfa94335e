/** What the script of operations knows of a client, whichever it is. Results are in one shape, see normal.ts. */
export interface OracleClient {
  facts(): unknown;
  listTools(): Promise<unknown>;
  listResources(): Promise<unknown>;
  listResourceTemplates(): Promise<unknown>;
  listPrompts(): Promise<unknown>;
  callTool(name: string, args?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>;
  readResource(uri: string): Promise<unknown>;
  getPrompt(name: string, args?: Readonly<Record<string, string>>): Promise<unknown>;
  complete(ref: Reference, name: string, value: string): Promise<unknown>;
  ping(): Promise<void>;
  /** What the server said and asked since this was called last. */
  heard(): Heard;
  close(): Promise<void>;
}

export type Reference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: unknown) => void;
}

export interface Heard {
  readonly logs: unknown[];
  /** The server's questions to the person and to the model. */
  readonly asked: unknown[];
}

/** A server to join, and how. */
export interface Target {
  readonly server: { readonly command: string; readonly args: readonly string[] } | { readonly url: string };
  readonly era: "legacy" | "modern";
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** What both clients answer when a server asks. */
export const ROOTS = [{ uri: "file:///work", name: "work" }];
export const SAMPLE = { role: "assistant", content: { type: "text", text: "Something" }, model: "scripted" } as const;
/** A person who fills in what is demanded, with the first choice where there are some, and leaves the rest as it is. */
export function fillIn(schema: Readonly<Record<string, unknown>>): Record<string, string> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { oneOf?: { const: string }[] }>;
    required?: string[];
  };
  return Object.fromEntries(required.map((name) => [name, properties[name]?.oneOf?.[0]?.const ?? "Ada"]));
}

/** Longer than anything here takes. */
export const LIMIT_MS = 20_000;
