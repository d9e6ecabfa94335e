import { isObject } from "../is-object.ts";
import type { JsonObject } from "../protocol/types.ts";

/**
 * An agent's connection to its editor, whatever library holds it: plain JSON of ACP goes in and comes out. What is missing is
 * not used; a method may reject or throw, which counts as no answer.
 */
export interface AcpPort {
  /** Sends `session/update`. */
  update(sessionId: string, update: JsonObject): unknown;
  /** Sends `session/request_permission`. Without it nobody can be asked. */
  requestPermission?(params: JsonObject, signal: AbortSignal): Promise<unknown>;
  /** Sends `elicitation/create`, if the editor has said that it can show one. */
  elicit?(params: JsonObject, signal: AbortSignal): Promise<unknown>;
}

/** The part of it that asks a person. */
export type AcpAskingPort = Pick<AcpPort, "requestPermission" | "elicit">;

/** What an editor has said in `initialize` that it can show. */
export interface AcpClientAbilities {
  readonly showsNotices: boolean;
  /** Kinds of elicitation: each has to be named, `{}` is none. */
  readonly elicits: readonly ("form" | "url")[];
}

/** `clientCapabilities` of `initialize` as they came; anything odd in them is no ability. */
export function abilitiesOf(clientCapabilities: unknown): AcpClientAbilities {
  const { session, elicitation } = isObject(clientCapabilities) ? clientCapabilities : {};
  const kinds = isObject(elicitation) ? elicitation : {};
  return {
    showsNotices: isObject(session) && isMarked(session.notices),
    elicits: (["form", "url"] as const).filter((kind) => isMarked(kinds[kind])),
  };
}

/** `true` in some places of ACP, an object that may be empty in others. */
function isMarked(value: unknown): boolean {
  return value === true || isObject(value);
}

/**
 * What an agent with this library says in `initialize`: in ACP 1 `agentCapabilities.mcpCapabilities`, in the draft of ACP 2
 * `capabilities.session.mcp`, where an object stands for yes.
 */
export function acpMcpCapabilities({ protocol = 1 }: { readonly protocol?: number } = {}): JsonObject {
  return protocol >= 2 ? { stdio: {}, http: {} } : { http: true, sse: true };
}
