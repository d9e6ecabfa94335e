import { connect } from "node:net";
import { isObject } from "../is-object.ts";
import type { AcpAskingPort } from "./client.ts";
import { Peer } from "./peer.ts";

/** Where the proxy listens, and what it wants to hear first; told to the agent's processes and taken out of theirs at once. */
export const CHANNEL_VARIABLES = { socket: "PI_MCP_ACP_SOCKET", token: "PI_MCP_ACP_TOKEN" } as const;

export interface ChannelAddress {
  readonly socket: string;
  readonly token: string;
}

/** Which session a process is: its id, and the file it lies in, which stays when an agent gives it another id. */
export interface SessionIdentity {
  readonly sessionId?: string | undefined;
  readonly sessionFile?: string | undefined;
}

/** What the proxy has for a session. */
export interface HandedServers {
  /** As the editor wrote it. */
  readonly servers: unknown;
  /** The editor's own, of `initialize`. */
  readonly clientCapabilities: unknown;
}

export interface ChannelHandlers {
  /** Told once for each list: of a new session, and whenever the editor sends another. */
  servers(handed: HandedServers): void;
  /** The text of a command that the person typed; answered with text. */
  command(text: string): Promise<string>;
  closed(): void;
}

export interface Channel {
  /** Settles when the proxy has been told who calls, or cannot be. */
  readonly greeted: Promise<void>;
  /** The editor, as seen from here; session ids are the proxy's business. */
  readonly port: AcpAskingPort;
  /** Has a person told a text that was written for a terminal. */
  say(text: string, severity: "info" | "warning"): void;
  close(): void;
}

/** Opens the line to the proxy. It fails silently: `closed` is told, and there are no servers of an editor. */
export function openChannel(
  { socket: path, token }: ChannelAddress,
  identity: SessionIdentity,
  handlers: ChannelHandlers,
): Channel {
  const socket = connect(path);
  // A line that is open must not keep a process alive that has nothing else to do.
  socket.unref();
  const peer = new Peer(socket, {
    notify: (method, params) => {
      if (method !== "servers" || !isObject(params)) return;
      handlers.servers({ servers: params.servers, clientCapabilities: params.clientCapabilities });
    },
    request: async (method, params) => {
      if (method !== "command") throw new Error(`no method ${method}`);
      return handlers.command(isObject(params) && typeof params.text === "string" ? params.text : "");
    },
    closed: handlers.closed,
  });
  peer.notify("hello", { token, ...identity });
  const greeted = new Promise<void>((resolve) => {
    socket.once("connect", () => resolve()).once("close", () => resolve());
  });
  return {
    greeted,
    port: {
      requestPermission: (params, signal) => peer.request("permission", params, signal),
      elicit: (params, signal) => peer.request("elicitation", params, signal),
    },
    say: (text, severity) => peer.notify("say", { text, severity }),
    close: () => peer.close(),
  };
}
