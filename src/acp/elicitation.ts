import { isObject } from "../is-object.ts";
import type { Elicitation, ElicitationAnswer } from "../protocol/handlers.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { AcpAskingPort, AcpClientAbilities } from "./client.ts";

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
    const answer = await port.elicit(elicitationParams(session, server, request), signal).catch(() => undefined);
    return readAnswer(answer);
  };
  return { modes: elicits, ask };
}

/** Of `elicitation/create`; the message names the server, as an editor does not know which one it is. */
function elicitationParams(sessionId: string, server: string, request: Elicitation): JsonObject {
  const message = `MCP server "${server}": ${request.message}`;
  if (request.mode === "form") return { sessionId, mode: "form", message, requestedSchema: request.schema };
  const { url, elicitationId } = request;
  return { sessionId, mode: "url", message, url, ...(elicitationId !== undefined && { elicitationId }) };
}

function readAnswer(answer: unknown): ElicitationAnswer {
  const { action, content } = isObject(answer) ? answer : {};
  if (action === "accept") return { action, ...(isObject(content) && { content }) };
  return { action: action === "decline" ? "decline" : "cancel" };
}
