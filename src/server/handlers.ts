import type { ServerConfig } from "../config/record.ts";
import type { ClientHandlers } from "../protocol/handlers.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { ServerPort } from "./port.ts";

/** What one server's connection tells beside answers. */
export interface ServerEvents {
  listChanged(list: "tools" | "resources" | "prompts"): Promise<void>;
  notice(text: string): void;
}

/** A host's port as one server's connection sees it. */
export function handlersFor({ name, policy }: ServerConfig, port: ServerPort, events: ServerEvents): ClientHandlers {
  const { roots, elicit } = port;
  return {
    ...(roots && policy.offersRoots && { roots: () => roots }),
    ...(elicit && { elicit: { modes: elicit.modes, ask: (request, signal) => elicit.ask(name, request, signal) } }),
    ...(port.sample &&
      policy.offersSampling && {
        sample: (params, signal) => port.sample?.(name, params, signal) as Promise<JsonObject>,
      }),
    ...(port.log && { log: (entry) => port.log?.(name, entry) }),
    listChanged: (list) => events.listChanged(list),
    notice: (text) => events.notice(text),
  };
}
