import { encodeFrame, type Framing } from "./framing.ts";
import type { JsonRpcMessage } from "./message.ts";
import type { Grace, SpawnOptions } from "./process-tree.ts";
import { ServerProcess } from "./server-process.ts";
import { type Transport, TransportError, type TransportEvents } from "./transport.ts";

/** All servers end side by side, so this is also how long the end of a session takes. */
const CLOSE_WITHIN_MS = 3_000;

/** After its stdin is closed a well-behaved server ends by itself (2025-11-25, basic/lifecycle, shutdown). */
const GRACE: Grace = { exitMs: 500, termMs: 1_500 };

/** A server that was asked to end gets its time first, and SIGTERM as a last word [S1-56]. */
const FAREWELL_GRACE: Grace = { exitMs: 2_000, termMs: 200 };

/** For its answer to being asked, where there is time for that [S1-55], and what must be left of the time after it. */
const FAREWELL_ANSWER_MS = 5_000;
const AFTER_FAREWELL_MS = FAREWELL_GRACE.exitMs + FAREWELL_GRACE.termMs + 400;

/** What is kept of the last words of a process that was replaced. */
const EARLIER_CHARS = 4_096;

/** Methods by which a peer is asked to end. */
export interface Farewell {
  /** A request; any answer will do. */
  readonly request: string;
  /** Sent after the answer, or when none has come in time. */
  readonly notification: string;
}

export interface StdioOptions extends SpawnOptions {
  /**
   * How messages are written: in one framing (default lines), or `auto`: the first one in a frame that either kind of
   * server can read, the others in the framing of the first reply. A server that ends instead of replying is started
   * once more and written lines. Both framings are always read.
   */
  framing?: Framing | "auto";
  /** Said before a peer's input is closed, once it has given a result at all. */
  farewell?: Farewell | undefined;
  /** Gets all that the process writes to stderr, as it comes. */
  onStderr?: ((chunk: Buffer) => void) | undefined;
  /** A larger message costs its call, not the connection. Default 64 MiB. */
  maxMessageBytes?: number;
}

/** MCP over a child process: messages on stdin and stdout, its other words kept for diagnostics. */
export class StdioTransport implements Transport {
  readonly kind = "stream";
  readonly #options: StdioOptions;
  #process: ServerProcess | undefined;
  #framing: Framing | "both";
  /** In `auto`, until the first reply: what was sent, because a second process would have to get it again. */
  #unconfirmed: JsonRpcMessage[] | undefined;
  /** Last words of a process that was replaced. */
  #earlier = "";
  #lastId = 0;
  #hasServed = false;
  /** Called with each message while the connection is being closed. */
  #farewellHeard: (message: JsonRpcMessage) => void = () => {};
  #ended: TransportError | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
    const { framing = "newline" } = options;
    this.#framing = framing === "auto" ? "both" : framing;
    if (framing === "auto") this.#unconfirmed = [];
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async open(events: TransportEvents): Promise<void> {
    const { maxMessageBytes } = this.#options;
    const server = new ServerProcess(this.#options, maxMessageBytes, {
      message: (message, framing) => {
        this.#note(message, framing);
        if (this.#closing) this.#farewellHeard(message);
        else events.message(message);
      },
      lost: (id, reason) => {
        if (!this.#closing) events.lost(id, reason);
      },
      notice: (text) => {
        if (!this.#closing) events.notice(text);
      },
      stderr: this.#options.onStderr,
    });
    void server.over.then((reason) => {
      if (this.#framing === "both" && !this.#closing) void this.#reopen(server, events);
      else this.#end(events, reason);
    });
    this.#process = server;
    await server.started;
  }

  send(message: JsonRpcMessage): Promise<void> {
    if (this.#ended) return Promise.reject(new TransportError("ended", this.#ended.message, "not-sent"));
    if ("method" in message && "id" in message && typeof message.id === "number") this.#lastId = message.id;
    if (!this.#unconfirmed) return this.#write(message);
    this.#unconfirmed.push(message);
    // A failure is no news: either a second process gets the message, or the end is told. Lines before the first reply
    // mean that the second process is on its way.
    if (this.#framing === "both") this.#write(message).catch(() => {});
    return Promise.resolve();
  }

  /**
   * Ends the process and everything it started, within `withinMs`: a server that is asked to end has less time for its
   * answer then. Never rejects; may be called twice.
   */
  close(withinMs = CLOSE_WITHIN_MS): Promise<void> {
    this.#closing ??= this.#close(withinMs);
    return this.#closing;
  }

  /** Both directions are open from the start. */
  listen(): void {}

  diagnostics(): string {
    const words = this.#process?.diagnostics() ?? "";
    // A process that was started again mostly says the same again.
    if (this.#earlier === "" || words.endsWith(this.#earlier)) return words;
    return words === "" ? this.#earlier : `${this.#earlier}\n${words}`;
  }

  #write(message: JsonRpcMessage): Promise<void> {
    if (!this.#process) return Promise.reject(new TransportError("ended", "it was not started", "not-sent"));
    return this.#process.write(encodeFrame(JSON.stringify(message), this.#framing));
  }

  #note(message: JsonRpcMessage, framing: Framing): void {
    if ("method" in message) return;
    if ("result" in message) this.#hasServed = true;
    if (this.#framing !== "both") return;
    this.#framing = framing;
    this.#unconfirmed = undefined;
  }

  /** Some servers end when they read a line that is no JSON: they are started anew and get lines alone, once. */
  async #reopen(first: ServerProcess, events: TransportEvents): Promise<void> {
    this.#framing = "newline";
    this.#earlier = first.diagnostics().slice(-EARLIER_CHARS);
    await first.end(GRACE);
    if (this.#closing) return;
    try {
      await this.open(events);
    } catch (error) {
      this.#end(events, (error as TransportError).message);
      return;
    }
    const messages = this.#unconfirmed ?? [];
    this.#unconfirmed = undefined;
    for (const message of messages) this.#write(message).catch(() => {});
  }

  #end(events: TransportEvents, reason: string): void {
    if (this.#ended || this.#closing) return;
    this.#ended = new TransportError("ended", reason, "unknown");
    // What the dead leader started may live on in its group.
    void this.close();
    events.closed(this.#ended);
  }

  async #close(withinMs: number): Promise<void> {
    const server = this.#process;
    const { farewell } = this.#options;
    if (!server) return;
    if (!farewell || !this.#hasServed || this.#ended) return server.end(GRACE);
    await this.#sayFarewell(farewell, server, Math.min(FAREWELL_ANSWER_MS, withinMs - AFTER_FAREWELL_MS));
    return server.end(FAREWELL_GRACE);
  }

  /** Asks the peer to end and waits for its answer, or its end. */
  async #sayFarewell(farewell: Farewell, server: ServerProcess, answerMs: number): Promise<void> {
    const id = this.#lastId + 1;
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, answerMs);
      this.#farewellHeard = (message) => {
        if ("id" in message && Number(message.id) === id) resolve();
      };
    });
    this.#write({ jsonrpc: "2.0", id, method: farewell.request }).catch(() => {});
    await Promise.race([answered, server.over]);
    clearTimeout(timer);
    this.#write({ jsonrpc: "2.0", method: farewell.notification }).catch(() => {});
  }
}
