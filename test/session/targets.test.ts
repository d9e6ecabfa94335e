import { describe, expect, test } from "vitest";
import type { McpSession } from "../../src/session/session.ts";
import { runMcpTool } from "../../src/tools/mcp.ts";
import { runMcpCall } from "../../src/tools/split.ts";
import type { ToolAnswer } from "../../src/tools/tool.ts";
import { type FakeStdio, fakeStdio, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { sessionOf } from "./open.ts";

type Words = Partial<Record<"server" | "tool" | "selector", string>>;

/** Servers by name, each with tools of these names that tell which one was called. */
async function declare(home: Home, servers: Record<string, readonly string[]>): Promise<Record<string, FakeStdio>> {
  const fakes: Record<string, FakeStdio> = {};
  const entries: Record<string, object> = {};
  for (const [name, tools] of Object.entries(servers)) {
    const on = Object.fromEntries(tools.map((each) => [`tools/call ${each}`, { text: `${name} | ${each}` }]));
    const fake = await fakeStdio(home, { tools: tools.map((each) => tool(each)), on });
    const { name: _, ...entry } = fake.entry(name);
    fakes[name] = fake;
    entries[name] = entry;
  }
  home.write({ mcp: { mcpServers: entries } });
  return fakes;
}

/** The text of an answer behind its first line, if that names the tool. */
function said({ content }: ToolAnswer): string {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return text.replace(/^MCP server `[^`]*` tool `[^`]*`:\n/, "").trim();
}

const DOORS = {
  mcp: (session: McpSession, { selector, ...words }: Words) =>
    runMcpTool(session, { args: { action: "call", ...words, ...(selector && { tool: selector }) } }),
  mcp_call: (session: McpSession, words: Words) => runMcpCall(session, { args: words }),
};

describe.each(["mcp", "mcp_call"] as const)("[E257] through %s", (door) => {
  const call = async (session: McpSession, words: Words) => said(await DOORS[door](session, words));

  test("a tool is understood in every way models write it, whether or not its server's tools are known", async () => {
    for (const isListed of [false, true]) {
      await using home = await temporaryHome();
      await declare(home, { git: ["list_issues"], other: ["read"] });
      await using session = sessionOf(home);
      if (isListed) await session.listTools("git");
      for (const words of [
        { server: "git", tool: "list_issues" },
        { tool: "git/list_issues" },
        { tool: "git.list_issues" },
        { tool: "git:list_issues" },
        { tool: "git__list_issues" },
        { tool: "mcp__git__list_issues" },
        { server: "git/list_issues" },
        { server: "git.list_issues" },
        { selector: "git/list_issues" },
        { selector: " git.list_issues " },
        { server: "git", tool: "git/list_issues" },
        { server: "git", tool: "git.list_issues" },
        { server: "git", tool: "git_list_issues" },
        { server: "git", tool: "mcp__git__list_issues" },
        ...(isListed ? [{ tool: "list_issues" }, { tool: "git_list_issues" }, { selector: "list_issues" }] : []),
      ]) {
        expect(await call(session, words), JSON.stringify(words)).toBe("git | list_issues");
      }
    }
  });

  test("names that hold separators are told apart by what is known, and the longest server's name by itself", async () => {
    await using home = await temporaryHome();
    await declare(home, { a: ["b.c", "a/x", "x", "d_e"], "a.b": ["c", "d"], a_d: ["f"] });
    await using session = sessionOf(home);
    expect(await call(session, { tool: "a.b.c" })).toBe("a.b | c");
    await session.listTools("a");
    expect(await call(session, { tool: "a.b.c" })).toBe("a | b.c");
    await session.listTools("a.b");
    await session.listTools("a_d");
    expect(await call(session, { tool: "a.b.c" })).toBe(
      '`a.b.c` may be several tools; name one by server "a.b" and tool "c", or server "a" and tool "b.c"',
    );
    expect(await call(session, { tool: "a.b.d" })).toBe("a.b | d");
    expect(await call(session, { server: "a", tool: "a/x" })).toBe("a | a/x");
    expect(await call(session, { server: "a", tool: "a.x" })).toBe("a | x");
    expect(await call(session, { tool: "a_d_e" })).toBe("a | d_e");
    expect(await call(session, { tool: "a_d_f" })).toBe("a_d | f");
  });

  test("nothing is guessed: a name of two servers, a word that means nothing, a server that is not there", async () => {
    await using home = await temporaryHome();
    const { one } = await declare(home, { one: ["read", "same"], two: ["same"] });
    await using session = sessionOf(home);
    expect(await call(session, { tool: "read" })).toMatch(/`server`/);
    expect(one?.starts()).toEqual([]);
    await session.listTools("one");
    await session.listTools("two");
    expect(await call(session, { tool: "same" })).toMatch(
      /server "one" and tool "same", or server "two" and tool "same"/,
    );
    expect(await call(session, { tool: "nope" })).toMatch(/`server`/);
    expect(await call(session, { tool: "three/same" })).toMatch(/no MCP server configured with name `three`.*one, two/);
    expect(await call(session, { server: "three", tool: "one/same" })).toMatch(/no MCP server .* `three`/);
    expect(await call(session, { server: "one", tool: "two/same" })).toMatch(/unknown|no tool/i);
    expect(await call(session, { server: "one" })).toMatch(/`tool`/);
  });

  test("a server that cannot be asked says so itself", async () => {
    await using home = await temporaryHome();
    home.write({ mcp: { mcpServers: { broken: { command: home.path("none") } } } });
    await using session = sessionOf(home);
    expect(await call(session, { server: "broken", tool: "broken/x" })).toMatch(
      /^MCP server `broken` failed to initialize/,
    );
  });
});

test("[E257] mcp describes a tool however it is named, and details say which it was", async () => {
  await using home = await temporaryHome();
  await declare(home, { git: ["list_issues"] });
  await using session = sessionOf(home);
  const answer = await runMcpTool(session, { args: { action: "describe", tool: "git/list_issues" } });
  expect(said(answer)).toMatch(/The tool list_issues\./);
  expect(answer.details).toMatchObject({ server: "git", tool: "list_issues" });
});
