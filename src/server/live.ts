import type { Redactor } from "../content/redact.ts";
import type { DefinitionRedactors } from "../content/redact-definition.ts";
import type { McpConnection } from "../protocol/connection.ts";
import type { Transport } from "../transport/transport.ts";

/** One redactor for each way out: what may be taken from a result may be needed in a listing. */
export interface Redactors {
  readonly errors: Redactor;
  readonly results: Redactor;
  readonly listings: Redactor;
  /** For what of a listing is a tool. */
  readonly definitions: DefinitionRedactors;
}

/** A connection that has shaken hands, and how many requests are under way on it. */
export class Live {
  readonly connection: McpConnection;
  readonly transport: Transport;
  readonly redact: Redactors;
  #users = 0;
  readonly #waiting = new Set<() => void>();

  constructor(connection: McpConnection, transport: Transport, redact: Redactors) {
    this.connection = connection;
    this.transport = transport;
    this.redact = redact;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  enter(): void {
    this.#users++;
  }

  leave(): void {
    this.#users--;
    if (this.isUsed) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Resolves when no request is under way. */
  unused(): Promise<void> {
    return this.isUsed ? new Promise((resolve) => this.#waiting.add(resolve)) : Promise.resolve();
  }
}
