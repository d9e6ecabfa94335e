import { sanitizeLine } from "../content/sanitize.ts";
import type { JsonObject } from "../protocol/types.ts";
import type { AcpPort } from "./client.ts";

/** An address to sign in at has to come whole. */
const DESCRIPTION_CHARS = 4_000;
const TITLE_CHARS = 300;

export interface Notice {
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly description?: string;
}

/**
 * What an editor's person is told, each thing once. Editors drop what is said of a session they do not know yet, so all waits
 * until the session's id is told.
 */
export class Notices {
  readonly #port: AcpPort | undefined;
  readonly #showsNotices: boolean;
  readonly #said = new Set<string>();
  #waiting: Notice[] = [];
  #sessionId: string | undefined;

  constructor(port: AcpPort | undefined, showsNotices: boolean) {
    this.#port = port;
    this.#showsNotices = showsNotices;
  }

  /** The answer that holds the id has been written. */
  bind(sessionId: string): void {
    this.#sessionId = sessionId;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const notice of waiting) this.#send(sessionId, notice);
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  say(notice: Notice): void {
    const key = JSON.stringify(notice);
    if (this.#said.has(key)) return;
    this.#said.add(key);
    if (this.#sessionId === undefined) this.#waiting.push(notice);
    else this.#send(this.#sessionId, notice);
  }

  #send(sessionId: string, notice: Notice): void {
    try {
      Promise.resolve(this.#port?.update(sessionId, noticeUpdate(notice, this.#showsNotices))).catch(() => {});
    } catch {
      // The connection is gone, and with it whoever would have read this.
    }
  }
}

/** Of a text that was written for a host that shows it as it is. */
export function noticeOfText(text: string, severity: Notice["severity"]): Notice {
  const [title = "", ...lines] = text.split("\n");
  return { severity, title: title.replace(/:$/, ""), ...(lines.length > 0 && { description: lines.join(" ") }) };
}

/** As the update `notice` where the editor has said that it knows it, else as a message of the agent. */
export function noticeUpdate({ severity, title, description }: Notice, showsNotices: boolean): JsonObject {
  const head = sanitizeLine(title, TITLE_CHARS);
  const text = description === undefined ? "" : sanitizeLine(description, DESCRIPTION_CHARS);
  if (showsNotices) {
    return { sessionUpdate: "notice", severity, title: head, ...(text !== "" && { description: text }) };
  }
  return {
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text: `**MCP:** ${head}${text === "" ? "" : `: ${text}`}\n\n` },
    _meta: { "pi-mcp": { kind: "notice", severity } },
  };
}
