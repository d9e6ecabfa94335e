import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import { elicit } from "./elicitation.ts";
import type { ClientHandlers } from "./handlers.ts";
import type { JsonObject } from "./types.ts";

/** First revision with elicitation, and the one that tells forms and addresses apart. */
const ELICITATION_SINCE = "2025-06-18";
const MODES_SINCE = "2025-11-25";

/** The client's half of a connection: what it can do, told to the server, and doing it when the server asks. */
export function capabilitiesOf(handlers: ClientHandlers, version: string): JsonObject {
  const { roots, sample, elicit } = handlers;
  const modes = version >= MODES_SINCE ? Object.fromEntries((elicit?.modes ?? []).map((mode) => [mode, {}])) : {};
  return {
    ...(roots && { roots: {} }),
    ...(sample && { sampling: {} }),
    ...(elicit && version >= ELICITATION_SINCE && { elicitation: modes }),
  };
}

/**
 * Answers one request of the server, or one question inside a result; undefined when the host does not offer it or the
 * revision does not know it.
 */
export function answerServer(
  handlers: ClientHandlers,
  method: string,
  params: JsonObject,
  signal: AbortSignal,
  revision: string = ELICITATION_SINCE,
): Promise<unknown> | undefined {
  switch (method) {
    case "ping":
      return Promise.resolve({});
    case "roots/list": {
      const roots = handlers.roots?.();
      return roots && Promise.resolve({ roots });
    }
    case "elicitation/create":
      if (!handlers.elicit || revision < ELICITATION_SINCE) return undefined;
      return elicit(handlers.elicit, params, signal);
    case "sampling/createMessage":
      return handlers.sample?.(params, signal);
    default:
      return undefined;
  }
}

/** What a server says unasked and what is heard of it: logs, and lists that have changed. */
export function hearServer(
  handlers: ClientHandlers,
  changed: (list: ChangingList) => void,
  method: string,
  params: JsonObject,
): void {
  if (method === "notifications/message") {
    const logger = stringOf(params.logger);
    handlers.log?.({ level: stringOf(params.level) ?? "info", ...(logger && { logger }), data: params.data });
    return;
  }
  const list = CHANGED.get(method);
  if (list) changed(list);
}

export type ChangingList = "tools" | "resources" | "prompts";

const CHANGED: ReadonlyMap<string, ChangingList> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

/** The lists whose changes the server says it announces. */
export function announcedLists(capabilities: JsonObject): ChangingList[] {
  return [...CHANGED.values()].filter((list) => {
    const capability = capabilities[list];
    return isObject(capability) && capability.listChanged === true;
  });
}
