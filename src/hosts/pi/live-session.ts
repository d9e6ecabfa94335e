import type { LoadedConfig } from "../../config/record.ts";
import { isObject } from "../../is-object.ts";
import type { McpSession, SessionPort } from "../../session/session.ts";

export type Engine = typeof import("./engine.ts");

/** So long servers wait for the session of the host that follows the one that has ended. */
const HELD_MS = 10_000;

/**
 * The engine, loaded with the first use of a server, and the session made with it. A host that goes from one conversation
 * to another (`/new`, `/resume`, `/fork`, `/reload`) ends its session and begins another at once; what was started
 * stays for that one.
 */
export interface LiveSession {
  readonly ready: Promise<[Engine, McpSession]>;
  /** Whom servers speak to: the session of the host that has it now, or had it last. */
  port: SessionPort;
}

export function startSession(config: LoadedConfig, cwd: string, port: SessionPort): LiveSession {
  const live: LiveSession = { ready: start(), port };
  return live;

  async function start(): Promise<[Engine, McpSession]> {
    const engine = await import("./engine.ts");
    return [
      engine,
      engine.createSession(
        config,
        { env: process.env, cwd },
        forwarding(port, () => live.port),
      ),
    ];
  }
}

/** As the first one is, with what it offers; its functions are those of whichever is there when they are called. */
function forwarding<Part extends object>(first: Part, now: () => Part): Part {
  const members = Object.entries(first).map(([name, value]: [string, unknown]) => {
    const member = () => (now() as Record<string, unknown>)[name];
    if (typeof value === "function") return [name, (...args: unknown[]) => (member() as typeof value)(...args)];
    return [name, isObject(value) ? forwarding(value, member as () => Record<string, unknown>) : value];
  });
  return Object.fromEntries(members);
}

type CloseOptions = Parameters<McpSession["close"]>[0];

/** By folder. Lives with the module, which every session of a process has in common. */
const held = new Map<string, { readonly live: LiveSession; readonly timer: NodeJS.Timeout }>();

/**
 * Keeps a session for the next one in its folder; it ends when none comes. With `keepResults` the files of its results stay
 * beyond this conversation, without it they stay where the person says so.
 */
export async function holdSession(cwd: string, live: LiveSession, options: CloseOptions): Promise<void> {
  const former = takeSession(cwd);
  const timer = setTimeout(() => {
    held.delete(cwd);
    void closeSession(live, options);
  }, HELD_MS).unref();
  held.set(cwd, { live, timer });
  if (former !== undefined) await closeSession(former);
  const [, session] = (await live.ready.catch(() => undefined)) ?? [];
  await session?.beginConversation(options);
}

/** The one that was kept for this folder, if any; it is then this caller's alone. */
export function takeSession(cwd: string): LiveSession | undefined {
  const kept = held.get(cwd);
  if (kept === undefined) return undefined;
  clearTimeout(kept.timer);
  held.delete(cwd);
  return kept.live;
}

export async function closeSession({ ready }: LiveSession, options: CloseOptions = {}): Promise<void> {
  const [, session] = (await ready.catch(() => undefined)) ?? [];
  await session?.close(options);
}
