import { visible } from "../config/problems.ts";
import { cleanSchema } from "../content/clean-schema.ts";
import { sanitizeText } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import type { Elicitation, ElicitationAnswer } from "../protocol/handlers.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { AcpAskingPort, AcpClientAbilities } from "./client.ts";

/** Longer ones no browser takes everywhere; pi's own dialogs decline them too. */
const MAX_ADDRESS = 2_000;

/** How servers may ask a person through the editor; `undefined` when it can show nothing of the kind. */
export function elicitThrough(
  port: AcpAskingPort | undefined,
  { elicits }: AcpClientAbilities,
  sessionId: () => string | undefined,
) {
  if (port?.elicit === undefined || elicits.length === 0) return undefined;
  const ask = async (server: string, request: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> => {
    const session = sessionId();
    // Before the editor knows the session it can show nothing in it.
    if (session === undefined || port.elicit === undefined) return { action: "cancel" };
    const params = elicitationParams(session, server, request);
    if (params === undefined) return { action: "decline" };
    const answer = await port.elicit(params, signal).catch(() => undefined);
    return readAnswer(answer);
  };
  return { modes: elicits, ask };
}

/**
 * Of `elicitation/create`; the message names the server, as an editor does not know which one it is. `undefined` when it
 * names an address that no person should be sent to.
 */
function elicitationParams(sessionId: string, server: string, request: Elicitation): JsonObject | undefined {
  const message = `MCP server "${visible(server)}": ${sanitizeText(request.message)}`;
  if (request.mode === "form") {
    return { sessionId, mode: "form", message, requestedSchema: cleanSchema(request.schema) };
  }
  const url = webAddress(request.url);
  if (url === undefined) return undefined;
  const { elicitationId } = request;
  return { sessionId, mode: "url", message, url, ...(elicitationId !== undefined && { elicitationId }) };
}

/**
 * As a browser reads it. `undefined` for what is no address of the web, for an endless one, and for one with a user: what
 * stands before the @ looks like where it leads, and an editor may not warn of it.
 */
function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href, username, password } = new URL(text);
  const isUsable = /^https?:$/.test(protocol) && href.length <= MAX_ADDRESS && username === "" && password === "";
  return isUsable ? href : undefined;
}

function readAnswer(answer: unknown): ElicitationAnswer {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "accept") return { action, ...(isObject(content) && { content }) };
  return { action: action === "decline" ? "decline" : "cancel" };
}
