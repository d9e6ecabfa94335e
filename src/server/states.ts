/** The states of one configured server, each with what it means. docs/states.md is made from this file. */
export const STATES = {
  idle: "Nothing has been started yet.",
  starting: "A start is under way; whoever needs the server waits for this one.",
  ready: "There is a connection that has shaken hands.",
  "needs-auth": "The server wants an authorization it did not get.",
  failed: "The last start did not succeed.",
  stopped: "There was a connection; the next use makes another, or goes on with an HTTP session that was kept.",
} as const;

export type State = keyof typeof STATES;

interface Transition {
  readonly from: readonly State[];
  readonly to: State;
  /** What has happened. */
  readonly when: string;
}

/** All that can happen to a server's state. What is not here does not happen. */
export const TRANSITIONS = {
  start: {
    from: ["idle", "needs-auth", "failed", "stopped"],
    to: "starting",
    when: "A request, a reconnect, or a session with an eager server needs a connection.",
  },
  shaken: { from: ["starting"], to: "ready", when: "The handshake is done." },
  refused: {
    from: ["starting"],
    to: "failed",
    when: "It refused, did not answer in time, exited, or is not reachable.",
  },
  unauthorized: { from: ["starting", "ready"], to: "needs-auth", when: "It answered 401." },
  abandoned: {
    from: ["starting"],
    to: "stopped",
    when: "A reconnect, another configuration or the end of the session came first.",
  },
  ended: {
    from: ["ready"],
    to: "stopped",
    when: "The process or the session is gone, a check failed, nobody used it, or it is replaced or closed.",
  },
  parted: { from: ["ready"], to: "stopped", when: "It cannot be reached for now; its HTTP session is kept." },
  resumed: { from: ["stopped"], to: "ready", when: "A request goes on in the session that was kept." },
  dropped: { from: ["stopped"], to: "stopped", when: "The session that was kept is given up." },
} as const satisfies Readonly<Record<string, Transition>>;

export type StateEvent = keyof typeof TRANSITIONS;

/** The state an event leads to. */
export type StateAfter<Event extends StateEvent> = (typeof TRANSITIONS)[Event]["to"];

/** Throws when that cannot happen in this state: then the code is wrong, not the server. */
export function assertTransition(from: State, event: StateEvent): void {
  const allowed: readonly State[] = TRANSITIONS[event].from;
  if (!allowed.includes(from)) throw new Error(`a server that is ${from} cannot be ${event}`);
}
