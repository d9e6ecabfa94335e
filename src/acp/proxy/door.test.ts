import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type HandedServers, openChannel, type SessionIdentity } from "../channel.ts";
import { ProxyDoor } from "./door.ts";
import { AcpProxy } from "./proxy.ts";

/** A door with a proxy behind it, and those who call at it. */
async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "acp-door-"));
  const door = new ProxyDoor();
  const toEditor: string[] = [];
  const proxy = new AcpProxy({
    toAgent: () => {},
    toEditor: (line) => toEditor.push(line.toString()),
    listed: (session) => door.listed(session),
    command: (session, text, signal) => door.command(session, text, signal),
  });
  door.serve(proxy);
  const address = await door.listen(folder);
  onTestFinished(() => {
    door.close();
    rmSync(folder, { recursive: true });
  });
  const call = (identity: SessionIdentity, token = address.token) => {
    const handed: HandedServers[] = [];
    let isHanded = () => {};
    const first = new Promise<void>((resolve) => {
      isHanded = resolve;
    });
    let isClosed = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const channel = openChannel({ socket: address.socket, token }, identity, {
      servers: (list) => {
        handed.push(list);
        isHanded();
      },
      command: async (text) => `answer to ${text}`,
      closed: isClosed,
    });
    return { channel, handed, first, closed };
  };
  const open = (sessionId: string, mcpServers: unknown) => {
    proxy.fromEditor(Buffer.from(JSON.stringify({ id: sessionId, method: "session/new", params: { mcpServers } })));
    proxy.fromAgent(Buffer.from(JSON.stringify({ id: sessionId, result: { sessionId } })));
  };
  return { door, proxy, toEditor, call, open };
}

test("whoever does not know the token is cut off and told nothing", async () => {
  const { call, open } = await opened();
  open("s", [{ name: "secret" }]);
  for (const token of ["", "x", "0".repeat(64)]) {
    const { handed, closed } = call({ sessionId: "s" }, token);
    await closed;
    expect(handed).toEqual([]);
  }
});

test("a process gets its session's list and no other, whether it calls before the editor knows the session or after", async () => {
  const { call, open, toEditor, proxy, door } = await opened();
  const early = call({ sessionId: "one", sessionFile: "/one.jsonl" });
  await early.channel.greeted;
  early.channel.say("not yet", "warning");
  open("two", [{ name: "b" }]);
  open("one", [{ name: "a" }]);
  await early.first;
  const late = call({ sessionId: "two" });
  await late.first;
  expect([early.handed, late.handed]).toMatchObject([[{ servers: [{ name: "a" }] }], [{ servers: [{ name: "b" }] }]]);
  const session = proxy.sessions.get("one");
  if (session === undefined) throw new Error("no session");
  // The answer comes after all that was said before it.
  expect(await door.command(session, "/mcp", new AbortController().signal)).toBe("answer to /mcp");
  expect(toEditor.join("\n")).toContain("not yet");
  early.channel.close();
  await early.closed;
});

test("a process that has gone is followed by the next one of its file; where none has called, /mcp says what to do", async () => {
  const { call, open, proxy, door } = await opened();
  open("one", [{ name: "a" }]);
  const first = call({ sessionId: "one", sessionFile: "/one.jsonl" });
  await first.first;
  first.channel.close();
  await first.closed;
  const session = proxy.sessions.get("one");
  if (session === undefined) throw new Error("no session");
  const again = call({ sessionId: "other", sessionFile: "/one.jsonl" });
  await again.first;
  expect(again.handed).toMatchObject([{ servers: [{ name: "a" }] }]);
  expect(await door.command(session, "/mcp", new AbortController().signal)).toBe("answer to /mcp");
  open("none", [{ name: "c" }]);
  const none = proxy.sessions.get("none");
  if (none === undefined) throw new Error("no session");
  await expect(door.command(none, "/mcp", new AbortController().signal)).rejects.toThrow("pi install npm:pi-mcp");
});
