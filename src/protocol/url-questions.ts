import { isObject } from "../is-object.ts";
import { stringOf } from "./decode/fields.ts";
import { readElicitation } from "./elicitation.ts";
import type { RpcError } from "./errors.ts";
import type { ClientHandlers } from "./handlers.ts";
import { pause } from "./pause.ts";
import type { JsonObject } from "./types.ts";

/** A person at a web page needs minutes; a server that never tells of the end must not hold a call for ever. */
const VISIT_LIMIT_MS = 10 * 60_000;

/** Addresses a server wants visited before it does what was asked (2025-11-25, client/elicitation, error -32042). */
export class UrlQuestions {
  readonly #elicit: ClientHandlers["elicit"];
  /** Who waits for the end of a visit; two calls may need the same one. */
  readonly #waiting = new Set<{ readonly id: string; readonly end: () => void }>();

  constructor(elicit: ClientHandlers["elicit"]) {
    this.#elicit = elicit;
  }

  /** The server says that one has been dealt with. */
  completed(params: JsonObject): void {
    for (const { id, end } of this.#waiting) if (id === params.elicitationId) end();
  }

  /** Shows each address in turn and waits for its end; false as soon as the person says no, or nobody can be asked. */
  async visitAll(error: RpcError, signal: AbortSignal): Promise<boolean> {
    const questions = isObject(error.data) ? error.data.elicitations : undefined;
    if (!this.#elicit?.modes.includes("url") || !Array.isArray(questions) || questions.length === 0) return false;
    for (const question of questions) {
      const request = isObject(question) ? readElicitation({ ...question, mode: "url" }) : undefined;
      const id = isObject(question) ? stringOf(question.elicitationId) : undefined;
      if (!request || id === undefined) return false;
      const over = new AbortController();
      const waiting = { id, end: () => over.abort() };
      this.#waiting.add(waiting);
      try {
        const answer = await this.#elicit.ask(request, signal);
        if (answer.action !== "accept") return false;
        await pause(VISIT_LIMIT_MS, AbortSignal.any([signal, over.signal])).catch(() => {});
        if (signal.aborted) return false;
      } finally {
        this.#waiting.delete(waiting);
      }
    }
    return true;
  }
}
