import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { admissionOf, reachOfAddress, safeUrl } from "./address.ts";
import { openAuthHttp } from "./http.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["127.8.8.8", "loopback"],
  ["::1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["10.1.2.3", "private"],
  ["172.31.0.1", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["fd00::1", "private"],
  ["::ffff:10.0.0.1", "private"],
  ["169.254.169.254", "special"],
  ["::ffff:169.254.169.254", "special"],
  ["fe80::1%eth0", "special"],
  ["0.0.0.0", "special"],
  ["::", "special"],
  ["64:ff9b::a9fe:a9fe", "special"],
  ["64:ff9b::5db8:d822", "public"],
  ["64:ff9b::7f00:1", "loopback"],
  ["64:ff9b:1::1", "special"],
  ["2002:7f00:1::", "special"],
  ["nonsense", "special"],
  ["93.184.216.34", "public"],
  ["2606:2800:220::1", "public"],
])("%s is %s", (address, reach) => {
  expect(reachOfAddress(address)).toBe(reach);
});

test.each([
  ["https://93.184.216.34/mcp", ["public"]],
  ["https://10.0.0.1/mcp", ["private", "public"]],
  ["http://localhost:1/mcp", ["loopback", "private", "public"]],
  ["http://[::1]:1/mcp", ["loopback", "private", "public"]],
])("[E233] %s may send us to %j", async (server, admitted) => {
  const admits = await admissionOf(new URL(server));
  expect((["loopback", "private", "public", "special"] as const).filter(admits)).toEqual(admitted);
});

test.each([
  "http://93.184.216.34/x",
  "https://127.0.0.1/x",
  "https://localhost/x",
  "https://a.localhost./x",
  "https://[::ffff:7f00:1]/x",
  "https://2130706433/x",
  "https://0x7f.1/x",
  "https://192.168.0.1/x",
  "https://169.254.169.254/latest/meta-data",
  "https://user@93.184.216.34/x",
  "ftp://93.184.216.34/x",
  "//x",
  "",
  undefined,
  7,
])("[E233] a public server may not send us to %j", async (address) => {
  const admits = await admissionOf(new URL("https://93.184.216.34/"));
  expect(() => safeUrl(address, "it", admits)).toThrow(/^it .*not used$/);
});

test("[E233] a name is judged by what it leads to, when it is connected to", async () => {
  const server = createServer((_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  // The name passes by its looks, as one does whose DNS changes its mind.
  let isFirst = true;
  const admits = () => {
    const before = isFirst;
    isFirst = false;
    return before;
  };
  const http = await openAuthHttp({ env: {}, admits });
  try {
    await expect(http.request(new URL(`http://localhost:${port}/`), "it", { method: "GET" })).rejects.toMatchObject({
      failure: "refused",
      message: expect.stringContaining("private network or one that is reserved"),
    });
  } finally {
    await http.close();
    server.close();
  }
});

test("[E233] so is what it redirects to, and a code goes nowhere else", async () => {
  const server = createServer((_, response) => response.writeHead(307, { location: "https://169.254.169.254/" }).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const http = await openAuthHttp({ env: {}, admits: await admissionOf(url) });
  try {
    await expect(http.request(url, "it", { method: "GET" })).rejects.toThrow(/that it redirects to lies at/);
    expect((await http.request(url, "it", { method: "POST", body: "code=x" })).status).toBe(307);
  } finally {
    await http.close();
    server.close();
  }
});
