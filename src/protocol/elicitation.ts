import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import type { ClientHandlers, Elicitation } from "./handlers.ts";
import type { JsonObject } from "./types.ts";

/** Answers `elicitation/create`. A host that fails to ask has not asked: the server is told "cancel" [E230]. */
export async function elicit(
  { modes, ask }: NonNullable<ClientHandlers["elicit"]>,
  params: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  const request = readElicitation(params);
  if (!request || !modes.includes(request.mode)) return { action: "cancel" };
  const answer = await ask(request, signal).catch(() => ({ action: "cancel" as const }));
  if (answer.action !== "accept") return { action: answer.action };
  if (request.mode === "url") return { action: "accept" };
  return { action: "accept", content: { ...defaultsOf(request.schema), ...answer.content } };
}

/** Without a mode it is a form: revisions before 2025-11-25 know no other. */
export function readElicitation(params: JsonObject): Elicitation | undefined {
  const message = stringOf(params.message) ?? "";
  if (params.mode === "url") {
    const url = stringOf(params.url);
    if (url === undefined) return undefined;
    return { mode: "url", message, url, elicitationId: stringOf(params.elicitationId) };
  }
  return { mode: "form", message, schema: isObject(params.requestedSchema) ? params.requestedSchema : {} };
}

/** A field that the person left as it was has its default (SEP-1034; 2025-11-25, client/elicitation). */
function defaultsOf(schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const withDefault = properties.filter(([, property]) => isObject(property) && property.default !== undefined);
  return Object.fromEntries(withDefault.map(([name, property]) => [name, (property as JsonObject).default]));
}
