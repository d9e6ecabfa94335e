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
/** Nothing filled in: the rest are the form's defaults. */
export const FORM_ANSWER = { action: "accept", content: { name: "Ada" } } as const;

/** Longer than anything here takes. */
export const LIMIT_MS = 20_000;
