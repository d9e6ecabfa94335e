import type { UseKind } from "../config/record.ts";
import type { JsonObject, ToolAnnotations } from "../protocol/types.ts";

/** What a person is asked. Names, title and arguments are a server's or a model's text, not cleaned. */
export interface PermissionRequest {
  readonly server: string;
  readonly kind: UseKind;
  /** Of the tool or the prompt; the address of the resource. */
  readonly name: string;
  readonly args?: JsonObject;
  /** What a tool says of itself, where it is known. */
  readonly annotations: ToolAnnotations;
  /** Why it is asked: the mode or the rule, and where it stands. */
  readonly why: string;
  /** The host's id of the tool call, where it gave one. */
  readonly callId?: string;
}

/**
 * `once`: this use. `thing`: this tool (or resource, or prompt) for the session. `server`: all of the server for the
 * session. `always`: this tool from now on. `deny`: not this time.
 */
export type PermissionAnswer = "once" | "thing" | "server" | "always" | "deny";

/** How a host asks. One question at a time; the signal ends it, whatever is answered then. */
export interface PermissionPort {
  ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>;
  /** That an answer does not hold for as long as it was given for: one clean sentence. */
  tell?(text: string): void;
}
