import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { reportServers } from "../../src/session/report.ts";
import { fakeStdio, tool } from "../ground/fake-server.ts";
import { temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf } from "./open.ts";

const TOOLS = ["read", "read_all", "write", "delete"].map((name) => tool(name));

/** A session with a server `fake` of those tools, in mcp.json, and the place of its entry. */
async function filtered(fields: object, script: Parameters<typeof fakeStdio>[1] = { tools: TOOLS }) {
  const home = await temporaryHome();
  const server = await fakeStdio(home, script);
  home.write({ mcp: { mcpServers: { fake: { command: server.command, args: server.args, ...fields } } } });
  const session = sessionOf(home);
  const call = (name: string) => mcp(session, { action: "call", server: "fake", tool: name });
  return {
    server,
    session,
    call,
    place: (field: string) => {
      const file = `${home.agentDir}/mcp.json`;
      return `${file}:${
        readFileSync(file, "utf8")
          .split("\n")
          .findIndex((line) => line.includes(`"${field}"`)) + 1
      }`;
    },
    names: async () => (await session.listTools("fake")).map(({ name }) => name),
    [Symbol.asyncDispose]: async () => {
      await session.close();
      await home.remove();
    },
  };
}

test("[S3-45] allowedTools leaves the named tools alone: others are not listed, counted or called", async () => {
  await using ground = await filtered({ allowedTools: ["read*", "delete"] });
  const { session, server, call, names, place } = ground;
  expect(await call("write")).toMatchObject({
    text: `MCP server \`fake\`: its tool \`write\` is left out by the configuration, "includeTools" in ${place("allowedTools")}`,
    isError: true,
    details: { category: "unknown-tool" },
  });
  expect(server.starts()).toEqual([]);
  expect(await names()).toEqual(["read", "read_all", "delete"]);
  const { text } = await mcp(session, { action: "list_tools", server: "fake" });
  expect(text).toMatch(/^Tools from MCP server `fake` \(3\):\n- read\b.*\n- read_all\b.*\n- delete\b.*$/);
  expect(await reportServers(session)).toBe("fake: connected, 3 tools");
  expect(session.knownTool("fake", "write")).toBeUndefined();
  expect((await call("write")).details).toMatchObject({ category: "unknown-tool" });
  const missing = await call("missing_read");
  expect(missing.text).not.toContain("write");
  expect((await call("read")).isError).toBe(false);
  expect(server.params("tools/call").map((params) => params?.name)).toEqual(["read"]);
});

test("[S3-46] excludeTools leaves out the named tools, and includeTools all others", async () => {
  await using without = await filtered({ excludeTools: ["read", "w*"] });
  expect(await without.names()).toEqual(["read_all", "delete"]);
  for (const name of ["read", "write"]) {
    expect((await without.call(name)).text).toContain(
      `\`${name}\` is left out by the configuration, "excludeTools" in ${without.place("excludeTools")}`,
    );
  }
  expect((await without.call("delete")).isError).toBe(false);
  await using both = await filtered({ includeTools: ["*e"], excludeTools: ["write"] });
  expect(await both.names()).toEqual(["delete"]);
  expect((await both.call("read_all")).details).toMatchObject({ category: "unknown-tool" });
  expect((await both.call("nothing")).details).toMatchObject({ category: "unknown-tool" });
  expect(both.server.params("tools/call")).toEqual([]);
});

test("a name that no tool has is noticed, once, and no longer when there is one", async () => {
  const script = {
    tools: TOOLS,
    on: {
      "tools/list": [{ usual: true as const }, { result: { tools: [...TOOLS, tool("raed"), tool("wrong_one")] } }],
    },
  };
  await using ground = await filtered({ includeTools: ["raed", "read"], excludeTools: ["wrong*"] }, script);
  const { session, names, place } = ground;
  expect(await names()).toEqual(["read"]);
  const notices = [
    `it has no tool "raed", which "includeTools" in ${place("includeTools")} names`,
    `it has no tool "wrong*", which "excludeTools" in ${place("excludeTools")} names`,
  ];
  expect(session.status("fake").notices).toEqual(notices);
  expect(await reportServers(session)).toBe(
    ["fake: connected, 1 tool", ...notices.map((notice) => `    (${notice})`)].join("\n"),
  );
  expect(await names()).toEqual(["read", "raed"]);
  // What is left says that there is a new tool.
  expect(session.status("fake").notices).toEqual([expect.stringContaining("than were accepted: new raed")]);
});

test("a server of which nothing is left says so", async () => {
  await using ground = await filtered({ excludeTools: ["*"] });
  const { text } = await mcp(ground.session, { action: "list_tools", server: "fake" });
  expect(text).toBe(
    "MCP server `fake` has no tools that are allowed.\nthe configuration leaves out all of its 4 tools",
  );
  expect(await reportServers(ground.session)).toContain("fake: connected, 0 tools");
});

test("tools that a server announces later are left out, too", async () => {
  const changed = { notify: [{ method: "notifications/tools/list_changed" }], text: "done" };
  const more = [...TOOLS, tool("write_more"), tool("read_more")];
  const script = {
    tools: TOOLS,
    capabilities: { tools: { listChanged: true } },
    on: { "tools/call": changed, "tools/list": [{ usual: true as const }, { result: { tools: more } }] },
  };
  await using ground = await filtered({ includeTools: ["read*"] }, script);
  expect(await ground.names()).toEqual(["read", "read_all"]);
  await ground.call("read");
  await until("the new list", () => ground.session.knownTool("fake", "read_more"));
  expect(ground.session.status("fake").toolCount).toBe(3);
  expect((await ground.call("write_more")).details).toMatchObject({ category: "unknown-tool" });
});
