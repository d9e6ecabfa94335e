import type { ModelBlock } from "../content/render.ts";
import type { JsonObject, Progress, ToolAnnotations } from "../protocol/types.ts";

/** What a model reads of a tool before it calls it. Plain data: a host can show it without loading the engine. */
export interface ToolDescription {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Whose tool it is, where it is one of a server's own. */
  readonly target?: { readonly server: string; readonly tool: string };
  /** The server it belongs to, for hosts that group tools; `aliases` are other names by which a script may ask for it. */
  readonly namespace?: {
    readonly name: string;
    readonly aliases: readonly string[];
    readonly description?: string;
    readonly instructions?: string;
  };
  /** What it is said to do, for hosts that ask a person first. */
  readonly annotations?: ToolAnnotations;
  /** JSON Schema of `ToolAnswer.structured`. */
  readonly outputSchema?: JsonObject;
  /** One line for a host's list of tools. */
  readonly promptSnippet?: string;
  /** Rules a host adds to the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[];
}

export interface ToolCall {
  readonly args: unknown;
  /** The host's id of the call. */
  readonly id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a tool gives back to the model. Failures are answers too: the text says what failed and what to do. */
export interface ToolAnswer {
  readonly content: readonly ModelBlock[];
  readonly isError: boolean;
  /** Small facts for a host's display and for tests: server, tool, error category. */
  readonly details: JsonObject;
  /** The whole result, for scripts. */
  readonly structured?: JsonObject;
}
