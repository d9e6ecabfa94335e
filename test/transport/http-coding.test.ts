import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { call, initialize, openHttp } from "./open.ts";

test("a server that packs what nobody said must not be packed is told so", async () => {
  // Without Accept-Encoding any coding is acceptable (RFC 9110, section 12.5.3).
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse(Buffer.concat(await request.toArray()).toString() || "{}");
    const answer = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } });
    const isPlain = request.headers["accept-encoding"]?.includes("identity");
    const headers = { "content-type": "application/json", ...(!isPlain && { "content-encoding": "gzip" }) };
    response.writeHead(200, headers).end(isPlain ? answer : gzipSync(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await using opened = await openHttp({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
    await opened.transport.send(initialize);
    await opened.transport.send(call(2));
    expect(await opened.answer(2)).toMatchObject({ result: { content: [] } });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
