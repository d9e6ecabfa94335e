import type { Socket } from "node:net";
import { isObject } from "../is-object.ts";
import { linesOf } from "./lines.ts";
import { Pending } from "./pending.ts";

/** What came over the line: a request has to be answered. */
export interface PeerHandlers {
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): void;
  closed(): void;
}

/**
 * One end of the private line between the proxy and the extension in the agent: JSON-RPC 2.0, a message a line, requests both
 * ways. The other end is a program of ours; what is no message of it is ignored.
 */
export class Peer {
  readonly #socket: Socket;
  readonly #handlers: PeerHandlers;
  readonly #pending = new Pending<number>();
  readonly #running = new Map<number, AbortController>();
  #nextId = 1;
  #isClosed = false;

  constructor(socket: Socket, handlers: PeerHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on("error", () => {});
    void this.#read();
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  /** Rejects when the other end says no or is gone; aborting tells it so and rejects at once. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error("the line is closed"));
    const id = this.#nextId++;
    const sending = {
      send: () => this.#send({ id, method, params }),
      cancel: () => this.notify("cancel", { id }),
    };
    return this.#pending.wait(id, sending, signal);
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(message: object): void {
    if (!this.#isClosed) this.#socket.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#socket)) this.#take(line);
    } catch {
      // A line that breaks is a line that ends.
    }
    this.#isClosed = true;
    this.#pending.rejectAll(new Error("the line is closed"));
    for (const run of this.#running.values()) run.abort();
    this.#handlers.closed();
  }

  #take(line: Buffer): void {
    const message = parse(line);
    if (message === undefined) return;
    const { id, method, params, result, error } = message;
    if (typeof method !== "string") this.#settle(id, result, error);
    else if (typeof id === "number") void this.#serve(id, method, params);
    else if (method === "cancel") this.#running.get(Number(isObject(params) ? params.id : undefined))?.abort();
    else this.#tell(method, params);
  }

  /** A notice has nobody who would hear that it failed; the line, and what comes next on it, must not pay for it. */
  #tell(method: string, params: unknown): void {
    try {
      this.#handlers.notify(method, params);
    } catch {
      // The next one may go well.
    }
  }

  #settle(id: unknown, result: unknown, error: unknown): void {
    const pending = this.#pending.take(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(isObject(error) && typeof error.message === "string" ? error.message : "refused"));
  }

  async #serve(id: number, method: string, params: unknown): Promise<void> {
    const run = new AbortController();
    this.#running.set(id, run);
    try {
      const result = await this.#handlers.request(method, params, run.signal);
      this.#send({ id, result: result ?? null });
    } catch (error) {
      this.#send({ id, error: { code: -32603, message: error instanceof Error ? error.message : "failed" } });
    } finally {
      this.#running.delete(id);
    }
  }
}

function parse(line: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return isObject(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
