import type { JsonObject, LogEntry, Root } from "./types.ts";

/** What a server asks of a person: to fill in a form, or to visit an address (2025-11-25, client/elicitation). */
export type Elicitation =
  | { readonly mode: "form"; readonly message: string; readonly schema: JsonObject }
  | {
      readonly mode: "url";
      readonly message: string;
      readonly url: string;
      readonly elicitationId: string | undefined;
    };

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: JsonObject }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/**
 * What a host can do for its servers. Each member that is there is declared to the server as a capability; a request
 * for one that is not is answered "method not found". Signals abort when the server takes its request back or the
 * connection ends.
 */
export interface ClientHandlers {
  /** The folders the session works in. */
  roots?(): readonly Root[];
  elicit?: {
    /** Which forms a host can show; `url` since 2025-11-25. */
    readonly modes: readonly Elicitation["mode"][];
    ask(request: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  };
  /** `sampling/createMessage`, parameters and result as in the specification. */
  sample?(params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  /** Log messages of the server; it is asked for all of them that are no debugging. */
  log?(entry: LogEntry): void;
  /** A list has changed; told at most once while it is being read again. */
  listChanged?(list: "tools" | "resources" | "prompts"): void | Promise<void>;
  /** Something odd was mended, dropped or ignored: one sentence, holding server text that is not cleaned yet. */
  notice?(text: string): void;
}
