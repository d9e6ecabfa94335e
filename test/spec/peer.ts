import type { JsonRpcId, JsonRpcMessage } from "../../src/transport/message.ts";
import type { Transport, TransportEvents } from "../../src/transport/transport.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** One message of the client, with the method of the request it answers if it is a response. */
export interface Sent {
  readonly message: JsonRpcMessage;
  readonly answers: string | undefined;
}

/**
 * What a server does with one request or notification: gives the result, an error, or nothing, and may say things of
 * its own before.
 */
export type Answer = (params: JsonObject, peer: Peer, id: JsonRpcId | undefined) => unknown;

/** For an Answer: the request fails. */
export class Refusal {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
  constructor(code: number, message: string, data?: unknown) {
    this.error = { code, message, ...(data !== undefined && { data }) };
  }
}

/** For an Answer: the request stays open. */
export const SILENCE = Symbol("silence");

/** A server in this process, at the other end of a transport that is two functions. It keeps what the client sent. */
export class Peer {
  readonly sent: Sent[] = [];
  readonly #answers: Readonly<Record<string, Answer>>;
  readonly #asked = new Map<string, { method: string; settle(message: JsonRpcMessage): void }>();
  #events: TransportEvents | undefined;
  #lastId = 0;

  /** By method; a method that is not there is refused, a notification that is not there is ignored. */
  constructor(answers: Readonly<Record<string, Answer>>) {
    this.#answers = answers;
  }

  readonly transport: Transport = {
    kind: "stream",
    pid: undefined,
    open: async (events) => {
      this.#events = events;
    },
    send: async (message) => {
      // As any real transport does: nothing comes back within the call.
      queueMicrotask(() => this.#receive(structuredClone(message)));
    },
    listen: () => {},
    close: async () => {},
    diagnostics: () => "",
  };

  say(message: JsonRpcMessage): void {
    this.#events?.message(message);
  }

  notify(method: string, params?: JsonObject): void {
    this.say({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** Sends a request to the client; gives its response, the whole message. */
  ask(method: string, params?: JsonObject, id: JsonRpcId = `ask-${++this.#lastId}`): Promise<JsonRpcMessage> {
    return new Promise((settle) => {
      this.#asked.set(String(id), { method, settle });
      this.say({ jsonrpc: "2.0", id, method, ...(params && { params }) });
    });
  }

  #receive(message: JsonRpcMessage): void {
    if (!("method" in message)) {
      const asked = this.#asked.get(String(message.id));
      this.sent.push({ message, answers: asked?.method });
      asked?.settle(message);
      return;
    }
    this.sent.push({ message, answers: undefined });
    void this.#answer(message.method, message.params ?? {}, "id" in message ? message.id : undefined);
  }

  async #answer(method: string, params: JsonObject, id: JsonRpcId | undefined): Promise<void> {
    const answer = this.#answers[method] ?? (() => new Refusal(-32601, `Method not found: ${method}`));
    const result = await answer(params, this, id);
    if (id === undefined || result === SILENCE) return;
    this.say(result instanceof Refusal ? { jsonrpc: "2.0", id, error: result.error } : { jsonrpc: "2.0", id, result });
  }
}
