import type { Readable } from "node:stream";
import { lostConnection, tooLarge } from "./http-failure.ts";
import { type HttpResponse, headerOf } from "./http-response.ts";

/** What a notification is answered with is thrown away, within limits. */
const DISCARD_BYTES = 64 * 1024;
const DISCARD_LIMIT_MS = 1_000;
/** Enough of an error page to recognise it, and of an error that is JSON to be whole. */
const ERROR_BODY_BYTES = 64 * 1024;
const ERROR_BODY_LIMIT_MS = 300;

/** What is left of a response nobody needs, so that its connection can be used again; an endless one is cut. */
export function discard(response: HttpResponse): void {
  response.body.dump({ limit: DISCARD_BYTES, signal: AbortSignal.timeout(DISCARD_LIMIT_MS) }).catch(() => {});
}

/** The whole body as text. Rejects with a TransportError: over the limit at once, however much would follow [E284]. */
export function readText(response: HttpResponse, limitBytes: number): Promise<string> {
  const { body } = response;
  const length = Number(headerOf(response, "content-length") || Number.NaN);
  return new Promise((resolve, reject) => {
    const lost = (error: unknown) => reject(lostConnection(error));
    if (length <= limitBytes) {
      body.text().then(resolve, lost);
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      body.destroy();
      reject(tooLarge(limitBytes));
    };
    body.on("error", lost);
    if (length > limitBytes) return stop();
    body.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limitBytes) stop();
    });
    body.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}

/** The first part of what came with an error, or as much of it as comes soon. */
export async function readErrorBody(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const limit = setTimeout(() => body.destroy(), ERROR_BODY_LIMIT_MS).unref();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ERROR_BODY_BYTES) break;
    }
  } catch {
    // An error in an error: the status alone says enough.
  }
  clearTimeout(limit);
  return Buffer.concat(chunks).toString("utf8");
}
