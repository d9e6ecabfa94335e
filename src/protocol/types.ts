/**
 * MCP's shapes as the rest of the product sees them, already decoded leniently. `raw` keeps what the server really
 * sent, for whoever wants a field we do not name.
 */

export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** An object schema; `{type: "object", properties: {}}` where the server gave none. */
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: ToolAnnotations;
  readonly raw: JsonObject;
}

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | { readonly type: "audio"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly uri: string;
      readonly mimeType?: string;
      readonly text?: string;
      readonly blob?: string;
    }
  | {
      readonly type: "resource_link";
      /** Bytes. */
      readonly size?: number;
      readonly uri: string;
      readonly name?: string;
      readonly mimeType?: string;
      readonly description?: string;
    }
  | { readonly type: "unknown"; readonly kind: string };

export interface CallToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly raw: JsonObject;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
}

/** A folder the session works in (client/roots). */
export interface Root {
  /** A `file://` address. */
  readonly uri: string;
  readonly name?: string;
}

export interface LogEntry {
  /** RFC 5424 severity: debug, info, notice, warning, error, critical, alert, emergency. */
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
  readonly raw: JsonObject;
}

export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly raw: JsonObject;
}

/** One part of a resource; text or base64, neither when the server sent neither. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
  readonly raw: JsonObject;
}

export interface PromptMessage {
  readonly role: string;
  readonly content: readonly ContentBlock[];
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly raw: JsonObject;
}

/** What an argument belongs to whose value is to be completed: a prompt, or the template of a resource's address. */
export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface CompletionArgument {
  readonly name: string;
  /** What there is of it so far. */
  readonly value: string;
  /** The arguments that are given already (since 2025-06-18). */
  readonly others?: Readonly<Record<string, string>>;
}

export interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
  readonly total?: number;
}

/** A file of a skill as its entry lists it (SEP-2640). */
export interface SkillFile {
  readonly uri: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

export interface Skill {
  /** Address of its SKILL.md. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly frontmatter: JsonObject;
  /** `dynamic`: the server makes the files up as they are asked for, so there is nothing to hold them against. */
  readonly files: readonly SkillFile[] | "dynamic";
}
