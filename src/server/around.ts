import type { Transport } from "../transport/transport.ts";

/** What is to happen beside a transport's life. */
export interface Around {
  /** The first message from the peer has arrived: it runs. At most once. */
  heard?(): void;
  /** The transport has ended; whoever ends it waits for this, too. Must not reject. Called once. */
  ended?(): Promise<void>;
}

/** The same transport, with something more at its start and its end. */
export function around(transport: Transport, { heard, ended }: Around): Transport {
  let isHeard = false;
  let closing: Promise<void> | undefined;
  return {
    kind: transport.kind,
    get pid() {
      return transport.pid;
    },
    open: (events) =>
      transport.open({
        message: (message) => {
          events.message(message);
          if (isHeard) return;
          isHeard = true;
          heard?.();
        },
        lost: (id, reason) => events.lost(id, reason),
        notice: (text) => events.notice(text),
        closed: (reason) => events.closed(reason),
      }),
    send: (message, options) => transport.send(message, options),
    listen: (headers) => transport.listen(headers),
    diagnostics: () => transport.diagnostics(),
    close: () => {
      closing ??= transport.close().then(() => ended?.());
      return closing;
    },
  };
}
