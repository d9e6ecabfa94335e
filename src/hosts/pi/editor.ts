import type { Channel, ChannelAddress, HandedServers, SessionIdentity } from "../../acp/channel.ts";
import type { AcpPort } from "../../acp/client.ts";
import type { PiContext } from "./api.ts";

/** For the list of a session that is being made; the first turn waits no longer for it. */
const LIST_MS = 2_000;

/** `PI_MCP_ACP_SOCKET` and `PI_MCP_ACP_TOKEN`, as `acp/channel` names them: that file is loaded when they are there. */
const VARIABLES = ["PI_MCP_ACP_SOCKET", "PI_MCP_ACP_TOKEN"] as const;

/** Of the process: pi loads an extension anew for each session, and its variables are gone by then. */
let called: { readonly address: ChannelAddress; identity?: SessionIdentity } | undefined;

/** Takes the address of the proxy out of the environment, so that no program pi starts has it. */
export function takeProxyAddress(env: NodeJS.ProcessEnv): void {
  const [socket, token] = VARIABLES.map((name) => env[name]);
  for (const name of VARIABLES) delete env[name];
  if (socket && token) called = { address: { socket, token } };
}

export interface EditorEvents {
  /** The editor's list, the first or another one. */
  handed(handed: HandedServers): void;
  /** What a person typed, `/mcp …`; answered with text. */
  command(text: string): Promise<string>;
}

/** The editor behind the proxy that this process was started by. */
export interface Editor {
  /** Settles with the first list, or when it has been waited for long enough. */
  readonly arrived: Promise<void>;
  /** Whom to ask; there once the line is open. */
  readonly port: AcpPort | undefined;
  close(): void;
}

/** Calls the proxy, if there is one; `undefined` if pi was not started by one. */
export function callEditor(ctx: PiContext, events: EditorEvents): Editor | undefined {
  if (called === undefined) return undefined;
  const { address } = called;
  // The proxy knows the process by the session it was started for, whichever one it goes on to.
  called.identity ??= identityOf(ctx);
  const { identity } = called;
  let channel: Channel | undefined;
  let isClosed = false;
  const arrived = new Promise<void>((resolve) => {
    setTimeout(resolve, LIST_MS).unref();
    const open = async () => {
      const { openChannel } = await import("../../acp/channel.ts");
      if (isClosed) return resolve();
      channel = openChannel(address, identity, {
        servers: (handed) => {
          if (isClosed) return;
          events.handed(handed);
          resolve();
        },
        command: events.command,
        closed: resolve,
      });
    };
    open().catch(() => resolve());
  });
  return {
    arrived,
    get port() {
      return channel?.port;
    },
    close() {
      isClosed = true;
      channel?.close();
    },
  };
}

function identityOf({ sessionManager }: PiContext): SessionIdentity {
  try {
    return { sessionId: sessionManager?.getSessionId(), sessionFile: sessionManager?.getSessionFile() };
  } catch {
    return {};
  }
}
