import type { LoadedConfig } from "../../config/record.ts";
import type { McpSession } from "../../session/session.ts";
import type { PiContext } from "./api.ts";
import { attention } from "./status-line.ts";

/** The line below the editor, as long as something of the servers needs attention. */
export class StatusLine {
  readonly #ctx: PiContext;
  readonly #config: () => LoadedConfig;
  #shown: string | undefined;
  #session: McpSession | undefined;
  #unwatch: (() => void) | undefined;
  #hasEnded = false;
  /** Servers that were said to have other tools than were accepted; whether it is so still, the session knows. */
  readonly #changed = new Set<string>();

  constructor(ctx: PiContext, config: () => LoadedConfig) {
    this.#ctx = ctx;
    this.#config = config;
  }

  /** From now on it also shows how the servers of a session are. */
  follow(session: McpSession): void {
    if (this.#hasEnded) return;
    this.#session = session;
    this.#unwatch = session.watch(() => this.show());
    this.show();
  }

  /** A server has other tools than were accepted. */
  noteChange(server: string): void {
    this.#changed.add(server);
    this.show();
  }

  /** What there is to say now. */
  show(): void {
    const session = this.#session;
    const known = new Set(session?.servers.map(({ name }) => name));
    this.#set(
      attention(
        this.#config(),
        (name) => (known.has(name) ? session?.status(name).state : undefined),
        (name) => known.has(name) && this.#changed.has(name) && hasPinChanges(session, name),
      ),
    );
  }

  end(): void {
    this.#hasEnded = true;
    this.#unwatch?.();
    this.#set(undefined);
  }

  /** Only where it is another: hosts draw anew, or write a line, each time. */
  #set(text: string | undefined): void {
    try {
      if (this.#shown === text || !this.#ctx.hasUI) return;
      this.#shown = text;
      this.#ctx.ui.setStatus?.("mcp", text);
    } catch {
      // The session was replaced.
    }
  }
}

function hasPinChanges(session: McpSession | undefined, server: string): boolean {
  try {
    return (session?.pins(server).changes.length ?? 0) > 0;
  } catch {
    // A record that cannot be read is told of where the server is used.
    return false;
  }
}
