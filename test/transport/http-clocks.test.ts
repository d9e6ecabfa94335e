import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { expect, test, vi } from "vitest";
import { until } from "../ground/wait.ts";
import { call, failureOf, openHttp, resultEvent } from "./open.ts";

// Alone in its file: the library's clock must not have run before time is taken over.
test("[E073] an answer may take longer than the HTTP library waits by itself, before its headers and before its body", async () => {
  const held: ServerResponse[] = [];
  const server = createServer((_, response) => held.push(response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const tenMinutes = () => vi.advanceTimersByTimeAsync(600_000);

  const usual = failureOf(new Agent().request({ origin: url, path: "/", method: "GET" }));
  await until("the first request", () => held[0]);
  await using http = await openHttp({ url });
  const sending = http.transport.send(call(1));
  const response = await until("the second request", () => held[1]);
  await tenMinutes();
  expect(await usual).toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
  response.writeHead(200, { "content-type": "text/event-stream" }).write(": begun\n\n");
  await tenMinutes();
  response.end(resultEvent(1, "late"));
  await sending;
  expect(http.messages).toMatchObject([{ id: 1 }]);
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
