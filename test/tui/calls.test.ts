import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { isAlive } from "../ground/processes.ts";
import { HOSTS } from "../ground/run-pi.ts";
import { scriptedModel, type Turn } from "../ground/scripted-model.ts";
import { openTerminal } from "./terminal.ts";

const call = (name: string, args?: object): Turn => ({
  call: { tool: "mcp", args: { action: "call", server: "fake", tool: name, ...(args && { args }) } },
});

describe.each(HOSTS)("$name", (host) => {
  test("a call is one line with its arguments, its time and its size; progress is a bar; Ctrl+O unfolds it", async () => {
    await using model = await scriptedModel([
      call("work", { path: "a/b", depth: 2 }),
      call("bad"),
      { say: "all done" },
    ]);
    await using home = await temporaryHome({ model });
    const half = { progress: 2, total: 4, message: "half way" };
    const server = await fakeStdio(home, {
      tools: [tool("work"), tool("bad")],
      on: {
        // Goes on when it is asked for something else.
        "tools/call work": {
          progress: [half],
          ask: { method: "roots/list" },
          delayMs: 2_000,
          text: "line one\nline two",
        },
        "tools/call bad": { text: "no such file", isError: true },
      },
    });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    await using pi = await openTerminal(host, home);
    await pi.submit("go");
    const running = await pi.until("██████████░░░░░░░░░░ 50% half way", "call-progress");
    expect(running).toMatch(/^ ?fake\.work path: "a\/b", depth: 2$/m);
    const folded = await pi.until("all done", "call-folded");
    expect(folded).toMatch(/^ ?fake\.work path: "a\/b", depth: 2 · \d+\.\d s · \d+ bytes$/m);
    expect(folded).toMatch(/^ ?fake\.bad · failed after \d+ ms\n ?no such file$/m);
    expect(folded).not.toContain("line one");
    pi.press("C-o");
    const unfolded = await pi.until("line two", "call-unfolded");
    expect(unfolded).toContain('"path": "a/b"');
    pi.press("C-o");
    await pi.untilGone("line two");
  });

  // 1.x cuts what is too wide in its full screen only, and ends by it in the other mode, as 0.73 always does.
  const modes = host.version === "0.73.1" ? [[]] : [[], ["--tui-mode", "regular"]];
  test.each(modes.map((args) => ({ args })))(
    "whatever a server calls things and says, the screen stays whole $args",
    async ({ args }) => {
      const hostile = "\u001b[2J\u001b]52;c;aGFja2Vk\u0007\u001b]0;owned\u0007\u001b[31m中文中文 👨‍👩‍👧 \u202eevil\r\n";
      await using model = await scriptedModel([
        call("odd", { text: hostile.repeat(20) }),
        call("odd2"),
        { say: "still here" },
      ]);
      await using home = await temporaryHome({ model });
      const server = await fakeStdio(home, {
        tools: [tool("odd", { description: hostile.repeat(5), title: hostile }), tool("odd2"), tool(`n${hostile}`)],
        startup: { stderr: hostile.repeat(50) },
        serverInfo: { name: hostile, version: hostile },
        on: {
          "tools/call odd": { progress: [{ progress: 1, total: 2, message: hostile }], text: hostile.repeat(30) },
          "tools/call odd2": { text: hostile.repeat(3), isError: true },
        },
      });
      home.write({ settings: { mcpServers: [server.entry("fake")] } });
      await using pi = await openTerminal(host, home, { size: { columns: 60, rows: 24 }, args });
      await pi.submit("go");
      await pi.until("still here", "hostile-folded");
      pi.press("C-o");
      await pi.until("tool `odd2` reported an error:", "hostile-unfolded");
      pi.press("C-o");
      await pi.untilGone("reported an error:");
      await pi.submit("/mcp");
      await pi.until(/^> ● fake/m);
      pi.press("Enter");
      pi.type("l");
      await pi.until("What it has written to stderr", "hostile-panel");
      pi.resize({ columns: 30, rows: 24 });
      await pi.until("── fake");
      pi.press("Escape");
      await pi.until(/^> ● fake/m);
      pi.press("Escape");
      await pi.untilGone("── MCP servers");
      expect(pi.isAlive()).toBe(true);
      expect(pi.title()).not.toContain("owned");
    },
  );

  test("Escape in the middle of a call cancels it at the server, which lives", async () => {
    await using model = await scriptedModel([call("slow"), call("echo", { again: true }), { say: "back again" }]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, {
      tools: [tool("slow"), tool("echo")],
      on: { "tools/call slow": { silent: true } },
    });
    home.write({ settings: { mcpServers: [server.entry("fake")] } });
    await using pi = await openTerminal(host, home);
    await pi.submit("go");
    await server.until("tools/call");
    await pi.until("fake.slow");
    pi.press("Escape");
    await server.until("notifications/cancelled");
    await pi.until(/fake\.slow · failed/, "aborted");
    await pi.submit("again");
    await pi.until("back again");
    expect(server.starts()).toHaveLength(1);
    expect(server.starts().every(isAlive)).toBe(true);
  });

  test("a server that dies is told of, and is back with the next call; /reload takes up a changed file", async () => {
    await using model = await scriptedModel([
      call("die"),
      { say: "it died" },
      call("echo", { a: 1 }),
      { say: "it is back" },
    ]);
    await using home = await temporaryHome({ model });
    const server = await fakeStdio(home, {
      tools: [tool("die"), tool("echo")],
      on: { "tools/call die": { signal: "SIGKILL" } },
    });
    const other = await fakeStdio(home);
    const entry = server.entry("fake", { replay: "never" });
    home.write({ settings: { mcpServers: [entry] } });
    await using pi = await openTerminal(host, home);
    await pi.submit("go");
    await pi.until("it died", "server-died");
    expect(pi.screen()).toMatch(/fake\.die · failed after/);
    await pi.submit("again");
    await pi.until("it is back", "server-back");
    expect(pi.screen()).toMatch(/fake\.echo a: 1 · \d+ m?s/);
    expect(server.starts()).toHaveLength(2);

    home.write({ settings: { mcpServers: [entry, other.entry("added")] } });
    await pi.submit("/reload");
    await pi.until(/Reloaded/i);
    await pi.submit("/mcp");
    await pi.until(/^> ○ added/m, "reloaded");
    expect(pi.screen()).toMatch(/^ {2}● fake +ready/m);
    expect(server.starts()).toHaveLength(2);
  });
});
