import { FrameReader, type Framing } from "./framing.ts";
import { type JsonRpcMessage, MAX_MESSAGE_BYTES } from "./message.ts";
import { asAnswer, toMessages } from "./parse.ts";
import { TransportError } from "./transport.ts";

/** What is looked at, and quoted, of a text that is no message. */
const END_CHARS = 1024;
const QUOTED_CHARS = 200;

export interface ReaderEvents {
  message(message: JsonRpcMessage, framing: Framing): void;
  /** A text that is no JSON-RPC message (a banner, a log line, half a message), cut to what may be shown of it. */
  noise(sample: string): void;
  /** An answer that cannot be delivered, and whose it was if that can be told. Later ones are read as usual. */
  lost(id: number | undefined, reason: TransportError): void;
}

/** Reads JSON-RPC messages from a byte stream in either framing. */
export function createMessageReader(events: ReaderEvents, maxBytes: number = MAX_MESSAGE_BYTES): FrameReader {
  const lost = (id: number | undefined, reason: string) =>
    events.lost(id, new TransportError("malformed", reason, "unknown"));
  const reader: FrameReader = new FrameReader(
    {
      frame(text, framing) {
        const messages = toMessages(text);
        if (messages) {
          if (framing === "newline") reader.acceptsHeaders = false;
          for (const message of messages) events.message(message, framing);
          return;
        }
        const answer = asAnswer(text.slice(0, END_CHARS), text.slice(-END_CHARS));
        if (answer?.id === undefined) events.noise(quotable(text));
        else lost(answer.id, `its answer is not valid JSON: ${quotable(text)}`);
      },
      dropped({ reason, head, tail }) {
        const answer = asAnswer(head, tail);
        if (answer) lost(answer.id, `its answer is too large: ${reason}`);
        else events.noise(`${reason}: ${quotable(head)}`);
      },
      fault: (reason) => events.noise(reason),
    },
    "MCP",
    maxBytes,
  );
  return reader;
}

/**
 * The beginning of a text, in whole words: half a secret would be recognised by nobody who looks for it. Through bytes, for
 * a slice of a string would keep all of it.
 */
function quotable(text: string): string {
  if (text.length <= QUOTED_CHARS) return Buffer.from(text).toString();
  const head = text.slice(0, QUOTED_CHARS);
  return `${Buffer.from(head.slice(0, Math.max(0, head.search(/\s\S*$/)))).toString()}…`;
}
