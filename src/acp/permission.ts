import { randomUUID } from "node:crypto";
import { sanitizeLine, sanitizeText } from "../content/sanitize.ts";
import { isObject } from "../is-object.ts";
import type { PermissionAnswer, PermissionPort, PermissionRequest } from "../permission/port.ts";
import type { JsonObject, ToolAnnotations } from "../protocol/types.ts";
import type { AcpAskingPort } from "./client.ts";

const TITLE_CHARS = 200;

/** What an editor shows a call as. Hints are the only word on it: a name says nothing. */
export type AcpToolKind = "read" | "fetch" | "other";

export function kindOf({ readOnlyHint, openWorldHint }: ToolAnnotations): AcpToolKind {
  if (readOnlyHint !== true) return "other";
  return openWorldHint === true ? "fetch" : "read";
}

const ALLOW = { optionId: "once", name: "Allow", kind: "allow_once" } as const;
const ALLOW_THING = { optionId: "thing", name: "Allow for this session", kind: "allow_always" } as const;
const REJECT = { optionId: "deny", name: "Reject", kind: "reject_once" } as const;
const OPTIONS = [ALLOW, ALLOW_THING, REJECT];

/** How a person is asked through the editor before something of a server is used; `undefined` when nobody can be. */
export function permissionThrough(
  port: AcpAskingPort | undefined,
  sessionId: () => string | undefined,
): PermissionPort | undefined {
  if (port?.requestPermission === undefined) return undefined;
  return {
    ask: async (request, signal) => {
      const session = sessionId();
      if (session === undefined || port.requestPermission === undefined) throw new Error("the session has no id yet");
      // What no call is about has an id that is no other's, of this session or one of before.
      const callId = request.callId ?? `mcp-${randomUUID()}`;
      return readAnswer(await port.requestPermission(permissionParams(session, callId, request), signal));
    },
  };
}

function permissionParams(sessionId: string, toolCallId: string, request: PermissionRequest): JsonObject {
  const { annotations, args } = request;
  // An editor marks none of them: what stands first is what a person sees first.
  const options = annotations.destructiveHint === true ? [REJECT, ALLOW, ALLOW_THING] : OPTIONS;
  const toolCall = {
    toolCallId,
    title: titleOf(request),
    kind: kindOf(annotations),
    status: "pending",
    content: [{ type: "content", content: { type: "text", text: sanitizeText(request.why) } }],
    ...(args && { rawInput: args }),
  };
  return { sessionId, toolCall, options };
}

/** What is used, by its name: the title is a server's word on itself, and `delete_all` may call itself "Read file". */
function titleOf({ server, kind, name, annotations: { title } }: PermissionRequest): string {
  const used = `${server}: ${kind === "tool" ? "" : `${kind} `}${name}`;
  return sanitizeLine(title === undefined || title === name ? used : `${used} (${title})`, TITLE_CHARS);
}

/** Whatever is no clear yes is a no. */
function readAnswer(answer: unknown): PermissionAnswer {
  const outcome = isObject(answer) && isObject(answer.outcome) ? answer.outcome : {};
  if (outcome.outcome !== "selected") return "deny";
  return outcome.optionId === ALLOW.optionId || outcome.optionId === ALLOW_THING.optionId ? outcome.optionId : "deny";
}
