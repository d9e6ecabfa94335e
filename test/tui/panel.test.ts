import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { HOSTS } from "../ground/run-pi.ts";
import { scriptedModel } from "../ground/scripted-model.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

/** Types `/mcp` and waits for the panel. */
async function openPanel(pi: Terminal, name?: string): Promise<string> {
  pi.type("/mcp");
  await pi.until(/^.{0,3}\/mcp/m);
  pi.press("Enter");
  return pi.until("── MCP servers", name);
}

describe.each(HOSTS)("$name", (host) => {
  test("the panel shows the servers, and does what its keys say", async () => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({ model });
    const files = await fakeStdio(home, { tools: [tool("read"), tool("write")], startup: { stderr: "listening\n" } });
    const off = await fakeStdio(home);
    const settings = {
      mcpServers: [
        files.entry("files"),
        off.entry("off", { disabled: true }),
        { name: "broken", command: "/nowhere", args: [] },
      ],
    };
    home.write({ settings, files: { "project/.mcp.json": { mcpServers: { theirs: { command: "x" } } } } });
    await using pi = await openTerminal(host, home);
    await pi.until("MCP: 1 of this project not allowed yet (/mcp)");

    const opened = await openPanel(pi, "panel");
    expect(opened).toMatch(/── MCP servers ─+ 0 of 4 ready ──/);
    expect(opened).toMatch(/^> ○ broken +not started +by mcp +\S*settings\.json:\d+$/m);
    expect(opened).toMatch(/^ {2}- off +disabled/m);
    expect(opened).toMatch(/^ {2}\? theirs +not allowed +\.mcp\.json:3$/m);

    pi.press("Down");
    await pi.until(/^> ○ files/m);
    pi.type("r");
    const ready = await pi.until(/^> ● files +ready +2 tools/m, "panel-ready");
    expect(ready).toContain("1 of 4 ready");
    pi.press("Enter");
    const page = await pi.until("listening", "panel-details");
    expect(page).toMatch(/^ state {5}ready · 2 tools · protocol \S+ · process \d+$/m);
    expect(page).toMatch(/^ {3}read {2}The tool read\.$/m);
    pi.press("Escape");
    await pi.until(/^> ● files/m);

    process.kill(files.starts().at(-1) ?? 0, "SIGKILL");
    await pi.until(/^> ○ files +stopped/m, "panel-server-died");
    pi.type("r");
    await pi.until(/^> ● files +ready/m);
    expect(files.starts()).toHaveLength(2);

    pi.type("d");
    await pi.until(/^> - files +disabled/m, "panel-disabled");
    expect(readFileSync(`${home.agentDir}/settings.json`, "utf8").match(/"disabled": true/g)).toHaveLength(2);
    pi.type("d");
    await pi.until(/^> ○ files +not started/m);

    pi.type("/bro");
    await pi.until(/^ \/ bro/m);
    pi.press("Enter");
    pi.type("r");
    await pi.until(/^> ✗ broken +failed[\s\S]*was not found/m, "panel-filter");
    pi.press("Escape");
    await pi.until(/^ {2}○ files/m);
    pi.type("a");
    await pi.until("y Allow", "panel-trust");
    pi.press("Escape");
    await pi.until("Nothing was allowed.");
    pi.type("?");
    await pi.until("Keys of this panel", "panel-help");
    pi.press("Escape");
    await pi.until(/^> ✗ broken/m);
    pi.press("Escape");
    await pi.untilGone("── MCP servers");

    pi.type("/mcp reconnect ");
    await pi.until(/reconnect broken/, "completion");
    expect(pi.screen()).toMatch(/reconnect files/);
    pi.type("fi");
    await pi.untilGone("reconnect broken");
    pi.press("Tab");
    await pi.until("/mcp reconnect files");
    pi.press("Enter");
    await pi.until("files: connected, 2 tools");
    expect(pi.isAlive()).toBe(true);
  });

  test.each([
    { columns: 40, rows: 12 },
    { columns: 200, rows: 50 },
  ])("it fits a terminal of $columns columns and $rows lines, and one whose size changes", async (size) => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({ model });
    const servers = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `server-${String(at).padStart(2, "0")}-${"long".repeat(at % 5)}`,
        { command: "x" },
      ]),
    );
    home.write({ mcp: { mcpServers: servers } });
    await using pi = await openTerminal(host, home, { size });
    await openPanel(pi, `panel-${size.columns}x${size.rows}`);
    await pi.until(/^> ○ server-00/m);
    pi.type("G");
    await pi.until(/^> ○ server-29/m);
    pi.press("Enter");
    await pi.until("── server-29");
    pi.resize({ columns: 60, rows: 20 });
    await pi.until("esc back");
    pi.press("Escape");
    await pi.until(/^> ○ server-29/m, `panel-${size.columns}x${size.rows}-then-60x20`);
    pi.press("Escape");
    await pi.untilGone("── MCP servers");
    expect(pi.isAlive()).toBe(true);
  });

  test("where nothing is configured, the panel offers what there is, and adds what is pasted", async () => {
    await using model = await scriptedModel([]);
    await using home = await temporaryHome({
      model,
      files: {
        "~/.cursor/mcp.json": { mcpServers: { git: { command: "git-mcp", env: { KEY: "sk-1234567890abcdef" } } } },
      },
    });
    await using pi = await openTerminal(host, home);
    await openPanel(pi);
    await pi.until("Found in other programs: Cursor (1).", "first-run");
    pi.type("m");
    await pi.until("Take over the MCP servers of which program?");
    pi.press("Enter");
    const preview = await pi.until("y write it", "first-run-preview");
    expect(preview).toMatch(/^ \+ +"git": \{$/m);
    expect(preview).not.toContain("1234567890abcdef");
    pi.type("y");
    await pi.until(/^> ○ git +not started/m);

    pi.type("n");
    await pi.until("Paste what the server's README shows");
    pi.paste('{"mcpServers": {"pasted": {"command": "npx", "args": ["-y", "a-server"]}}}');
    await pi.until("a-server");
    pi.press("Enter");
    await pi.until("y write it");
    pi.type("y");
    await pi.until(/^ {2}○ pasted +not started/m, "first-run-done");
    const written = JSON.parse(readFileSync(`${home.agentDir}/mcp.json`, "utf8")) as { mcpServers: object };
    expect(Object.keys(written.mcpServers)).toEqual(["git", "pasted"]);
  });
});
