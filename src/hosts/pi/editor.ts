import type { Channel, ChannelAddress, HandedServers, SessionIdentity } from "../../acp/channel.ts";
import type { AcpAskingPort } from "../../acp/client.ts";
import type { PiContext } from "./api.ts";

/** For the list of a session that is being made; the first turn waits no longer for it. */
const LIST_MS = 2_000;

/** `PI_MCP_ACP_SOCKET` and `PI_MCP_ACP_TOKEN`, as `acp/channel` names them: that file is loaded when they are there. */
const VARIABLES = ["PI_MCP_ACP_SOCKET", "PI_MCP_ACP_TOKEN"] as const;

/** The proxy of this process, and the session it was started for. */
interface Called {
  readonly address: ChannelAddress;
  identity?: SessionIdentity;
}

/** Of the process: pi may load this file anew for each session, and its variables are gone by then. */
const CALLED = Symbol.for("pi-mcp.acp");
const memory = globalThis as { [CALLED]?: Called };

/** Takes the address of the proxy out of the environment, so that no program pi starts has it. */
export function takeProxyAddress(env: NodeJS.ProcessEnv): void {
  const [socket, token] = VARIABLES.map((name) => env[name]);
  for (const name of VARIABLES) delete env[name];
  if (socket && token) memory[CALLED] = { address: { socket, token } };
}

export interface EditorEvents {
  /** The editor's list, the first or another one. */
  handed(handed: HandedServers): void;
  /** What a person typed, `/mcp …`; answered with text. */
  command(text: string): Promise<string>;
}

/** The editor behind the proxy that this process was started by. */
export interface Editor {
  /**
   * Settles when the proxy knows which session this process is. An adapter may end it as soon as it has started, and give
   * the session another id with the next one.
   */
  readonly greeted: Promise<void>;
  /** Settles with the first list, or when it has been waited for long enough. */
  readonly arrived: Promise<void>;
  /** Whom to ask, and what it can show; there as long as the line is. */
  readonly port: AcpAskingPort | undefined;
  readonly clientCapabilities: unknown;
  /** Shows the person a text; false when it cannot. */
  tell(text: string, type: "info" | "warning"): boolean;
  close(): void;
}

/** Calls the proxy, if there is one; `undefined` if pi was not started by one. */
export function callEditor(ctx: PiContext, events: EditorEvents): Editor | undefined {
  const called = memory[CALLED];
  if (called === undefined) return undefined;
  const { address } = called;
  // The proxy knows the process by the session it was started for, whichever one it goes on to.
  called.identity ??= identityOf(ctx);
  const { identity } = called;
  let channel: Channel | undefined;
  let clientCapabilities: unknown;
  /** Said before the line is open. */
  let unsaid: [text: string, type: "info" | "warning"][] = [];
  let isClosed = false;
  let isThere = () => {};
  const arrived = new Promise<void>((resolve) => {
    isThere = resolve;
    setTimeout(resolve, LIST_MS).unref();
  });
  const open = async () => {
    const { openChannel } = await import("../../acp/channel.ts");
    if (isClosed) return;
    channel = openChannel(address, identity, {
      servers: (handed) => {
        if (isClosed) return;
        ({ clientCapabilities } = handed);
        try {
          events.handed(handed);
        } finally {
          isThere();
        }
      },
      command: events.command,
      closed: () => {
        channel = undefined;
        isClosed = true;
        isThere();
      },
    });
    for (const words of unsaid) channel.say(...words);
    unsaid = [];
    await channel.greeted;
  };
  const failed = () => {
    isClosed = true;
    isThere();
  };
  return {
    greeted: open().catch(failed),
    arrived,
    get port() {
      return channel?.port;
    },
    get clientCapabilities() {
      return clientCapabilities;
    },
    tell(text, type) {
      if (isClosed) return false;
      if (channel === undefined) unsaid.push([text, type]);
      else channel.say(text, type);
      return true;
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
