import { onTestFinished } from "vitest";
import { type FakeHttp, fakeHttp, type HttpOptions } from "../ground/http-server.ts";
import type { ServerScript } from "../ground/script.ts";

/** A server over Streamable HTTP that ends with the test. */
export async function served(script: ServerScript = {}, options?: HttpOptions): Promise<FakeHttp> {
  const server = await fakeHttp(script, options);
  onTestFinished(() => server.close());
  return server;
}
