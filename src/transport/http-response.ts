import type { Dispatcher } from "undici";

/** The head of an answer, and a body that has not been read. */
export type HttpResponse = Dispatcher.ResponseData;

/** A header's value, the last one when it was sent several times; empty when it was not. */
export function headerOf(response: HttpResponse, name: string): string {
  const value = response.headers[name];
  return (Array.isArray(value) ? value.at(-1) : value) ?? "";
}

/** The media type without its parameters, in lower case. */
export function contentTypeOf(response: HttpResponse): string {
  return headerOf(response, "content-type").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isEventStream(response: HttpResponse): boolean {
  return response.statusCode === 200 && contentTypeOf(response) === "text/event-stream";
}
