import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Peer } from "../../acp/peer.ts";
import type { PiContext } from "./api.ts";
import { callEditor, type EditorEvents, takeProxyAddress } from "./editor.ts";

/** A proxy that hands over a list to whoever calls; its end of the line, and what this process has of it. */
async function called(events: EditorEvents) {
  const folder = mkdtempSync(join(tmpdir(), "acp-editor-"));
  const socket = join(folder, "s");
  const lines: Socket[] = [];
  let isCalled = (_peer: Peer) => {};
  const calls = new Promise<Peer>((resolve) => {
    isCalled = resolve;
  });
  const server = createServer((line) => {
    lines.push(line);
    const peer = new Peer(line, {
      notify: (method) => {
        if (method === "hello") peer.notify("servers", { servers: [], clientCapabilities: { a: 1 } });
      },
      request: async () => undefined,
      closed: () => {},
    });
    isCalled(peer);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  takeProxyAddress({ PI_MCP_ACP_SOCKET: socket, PI_MCP_ACP_TOKEN: "t" });
  const editor = callEditor({} as PiContext, events);
  onTestFinished(() => {
    editor?.close();
    for (const line of lines) line.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  if (editor === undefined) throw new Error("no editor");
  return { editor, proxy: await calls };
}

test("a list that cannot be taken up holds no turn, and /mcp is still answered", async () => {
  // Nobody is let off by the time alone.
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isHanded = false;
  const { editor, proxy } = await called({
    handed: () => {
      isHanded = true;
      throw new Error("a fault");
    },
    command: async (text) => `answer to ${text}`,
  });
  await editor.arrived;
  expect(isHanded).toBe(true);
  expect(editor.port).toBeDefined();
  expect(await proxy.request("command", { text: "/mcp" })).toBe("answer to /mcp");
});
