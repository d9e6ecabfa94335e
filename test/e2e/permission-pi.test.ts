import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import type { UiAnswer, UiRequest } from "../ground/rpc-pi.ts";
import { rpcPi } from "../ground/rpc-pi.ts";
import { EXTENSION, HOSTS } from "../ground/run-pi.ts";
import type { Turn } from "../ground/scripted-model.ts";
import { scriptedModel, toolResults } from "../ground/scripted-model.ts";

const call = (name: string, args: object = {}): Turn => ({
  call: { tool: "mcp", args: { action: "call", server: "files", tool: name, args } },
});

/** A person who gives these answers to dialogs one after the other; after the last one they do not answer. */
function person(...answers: readonly string[]) {
  const asked: UiRequest[] = [];
  return {
    asked,
    texts: () => asked.map(({ title }) => String(title)),
    dialogs: (request: UiRequest): UiAnswer | undefined => {
      if (!["select", "input", "confirm"].includes(request.method)) return undefined;
      const value = answers[asked.push(request) - 1];
      return value === undefined ? undefined : { value };
    },
  };
}

// The other host and other dialogs: test/proofs/pi.
describe.each(HOSTS.slice(0, 1))("$name", (host) => {
  test("a call is asked about where the file says so: no, once, for the session, and not again", async () => {
    await using model = await scriptedModel([
      call("write", { path: "a" }),
      call("write", { path: "b" }),
      call("write", { path: "c" }),
      call("write", { path: "d" }),
      { say: "done" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, { tools: [tool("write")], on: { "tools/call": { echo: true } } });
    home.write({
      settings: { mcpServers: [server.entry("files")] },
      files: { "agent/mcp.json": { permission: "ask" } },
    });
    const { dialogs, texts } = person("Deny", "Allow once", "Allow tool write for this session");
    await using pi = await rpcPi(host, home, { extension: EXTENSION, dialogs });
    await pi.prompt("go");
    const [denied, ...rest] = toolResults(model.requests[4]);
    expect(denied).toContain("User denied permission: tool `write` of MCP server `files` was not used");
    expect(rest.length).toBe(3);
    for (const text of rest) expect(text).toContain("tool `write`:");
    expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([
      { path: "b" },
      { path: "c" },
      { path: "d" },
    ]);
    expect(texts().map((text) => text.split("\n").slice(0, 2))).toEqual(
      ["a", "b", "c"].map((path) => ["Use tool `write` of MCP server `files`?", `  path: "${path}"`]),
    );
    expect(texts()[0]).toMatch(/You are asked because of mode `ask` \(.*mcp\.json:\d+\)/);
  });
});
