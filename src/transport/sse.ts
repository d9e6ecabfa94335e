import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * The events of a `text/event-stream` body. Empty priming events are left out, and an event whose closing blank line
 * never came is taken when its data is complete: servers that end the stream right after it are common [E071].
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => ready.push(event) });
  const decoder = new TextDecoder("utf-8");
  const drain = () => ready.splice(0).filter((event) => event.data.trim() !== "");
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* drain();
  }
  parser.feed(`${decoder.decode()}\n\n`);
  yield* drain();
}
