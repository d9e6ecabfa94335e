import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { renderBlocks } from "../../src/content/render.ts";
import { fakeHttp, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { mcp, sessionOf, sessionWith } from "../session/open.ts";

const call = { action: "call", server: "fake", tool: "echo" };

test("an image whose base64 happens to hold a configured value arrives whole", async () => {
  await using home = await temporaryHome();
  const png = `iVBORw0KGgoAAAANSUhEUgAA${"AAtestAA".repeat(3)}`;
  const { session } = await sessionWith(
    home,
    { on: { "tools/call": { result: { content: [{ type: "image", data: png, mimeType: "image/png" }] } } } },
    { env: { API_KEY: "test" } },
  );
  await using _ = session;
  const result = await session.callTool("fake", "echo", {});
  expect(renderBlocks(result, { maxBytes: 1000, maxLines: 10 })).toEqual([{ type: "image", data: png, mimeType: "image/png" }]);
});

test("a token inside a longer argument is not listed", async () => {
  const token = `ghp_${"a1".repeat(18)}`;
  await using home = await temporaryHome();
  home.write({
    settings: {
      mcpServers: [
        { name: "a", command: "sh", args: ["-c", `curl -H 'Authorization: Bearer ${token}' x`] },
        { name: "b", command: "sh", args: ["-c", "export API_KEY=hunter2hunter2; exec server"] },
      ],
    },
  });
  await using session = sessionOf(home);
  const { text } = await mcp(session, { action: "list_servers" });
  expect(text).not.toContain(token);
  expect(text).not.toContain("hunter2hunter2");
});

test("a file with many entries is read in a time that grows with its size", async () => {
  await using home = await temporaryHome();
  const time = (count: number) => {
    const servers = Array.from({ length: count }, (_, i) => [`server-${i}`, { command: "node", args: ["--flag", `value-${i}`] }]);
    home.write({ mcp: JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 1) });
    const before = performance.now();
    loadConfig({ env: home.env(), home: home.home });
    return performance.now() - before;
  };
  time(1_000);
  const [small, large] = [time(2_000), time(16_000)];
  console.log("config", small, large);
  expect(large / small).toBeLessThan(24);
}, 120_000);


test("[S1-61] a listing of 512 tools is cut to 32 KiB, too", async () => {
  await using home = await temporaryHome();
  const tools = Array.from({ length: 512 }, (_, n) => tool(`tool_${n}`, { description: "d".repeat(300) }));
  const { session } = await sessionWith(home, { tools });
  await using _ = session;
  const { text } = await mcp(session, { action: "list_tools", server: "fake" });
  expect(Buffer.byteLength(text)).toBeLessThan(33 * 1024);
});
