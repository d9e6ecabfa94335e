import type { JsonRpcMessage } from "../../src/transport/message.ts";
import type { Transport, TransportEvents } from "../../src/transport/transport.ts";

export interface MemoryTransport extends Transport {
  readonly sent: readonly JsonRpcMessage[];
  /** The server says something by itself. */
  deliver(message: JsonRpcMessage): void;
}

/** A transport without a server, for tests in which time does not pass by itself: `reply` answers, or keeps silent. */
export function memoryTransport(reply: (message: JsonRpcMessage) => JsonRpcMessage | undefined): MemoryTransport {
  const sent: JsonRpcMessage[] = [];
  let events: TransportEvents | undefined;
  return {
    kind: "stream",
    pid: undefined,
    sent,
    deliver: (message) => events?.message(message),
    open: async (given) => {
      events = given;
    },
    send: async (message) => {
      sent.push(message);
      const answer = reply(message);
      if (answer) events?.message(answer);
    },
    listen: () => {},
    close: async () => {},
    diagnostics: () => "",
  };
}
