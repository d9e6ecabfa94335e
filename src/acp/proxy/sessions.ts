import type { SessionIdentity } from "../channel.ts";

export interface ProxySession {
  readonly id: string;
  /** As the editor sent it last. */
  list: unknown;
  /** The file the agent keeps it in, once one of its processes has said so. */
  file?: string;
  /** Whether a process of it has ever called: one that is killed and started again is on its way. */
  hasCalled: boolean;
}

/** The sessions of one connection and the servers the editor sent with each; they outlive the agent's processes. */
export class ProxySessions {
  readonly #byId = new Map<string, ProxySession>();
  /** By the id a process calls itself by; the process may have ended before the editor knows the session. */
  readonly #files = new Map<string, string>();

  get(id: string): ProxySession | undefined {
    return this.#byId.get(id);
  }

  /** The list of a session, whether it is new or known. */
  set(id: string, list: unknown): ProxySession {
    const known = this.#byId.get(id);
    if (known !== undefined) {
      known.list = list;
      return known;
    }
    const file = this.#files.get(id);
    const made: ProxySession = { id, list, hasCalled: false, ...(file !== undefined && { file }) };
    this.#byId.set(id, made);
    return made;
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  /** A process has called. */
  note({ sessionId, sessionFile }: SessionIdentity): void {
    if (sessionId !== undefined && sessionFile !== undefined) this.#files.set(sessionId, sessionFile);
  }

  /** Whose process calls: by its id, or by its file, as an agent may give a session that is restarted another id. */
  find({ sessionId, sessionFile }: SessionIdentity): ProxySession | undefined {
    const byId = sessionId === undefined ? undefined : this.#byId.get(sessionId);
    if (byId !== undefined) return byId;
    return sessionFile === undefined ? undefined : [...this.#byId.values()].find(({ file }) => file === sessionFile);
  }
}
