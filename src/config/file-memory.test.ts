import { mkdirSync, rmSync, unlinkSync, utimesSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { MCP_JSON, removeHomes, SETTINGS, SETTINGS_TOML, testHome, USER_MCP_JSON } from "./config.fixture.ts";
import { FileMemory } from "./file-memory.ts";
import { loadConfig } from "./load.ts";
import { allowProject, revoke } from "./trust-decisions.ts";

afterEach(removeHomes);

/** A home that is read again and again by one session. */
function remembered() {
  const home = testHome();
  const memory = new FileMemory();
  const user = { env: {}, home: home.home };
  const load = () => {
    const { servers, problems, untrusted = [] } = loadConfig({ ...user, cwd: `${home.home}/project` }, memory);
    return {
      names: servers.map(({ name }) => name),
      messages: problems.map(({ message }) => message),
      untrusted,
    };
  };
  return { ...home, memory, user, load };
}

const server = (...names: string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: "x" }])),
});

describe("FileMemory", () => {
  it("a file that is broken for the moment counts as what it held before, whole", () => {
    const { write, load } = remembered();
    write(USER_MCP_JSON, server("a", "off"));
    // The broken half would be without the line that switches a server off.
    write(MCP_JSON, { mcpServers: { off: { disabled: true }, b: { command: "x" } } });
    expect(load().names).toEqual(["a", "b"]);
    write(MCP_JSON, '{"mcpServers": {"b": {"command": "x"}');
    const { names, messages } = load();
    expect(names).toEqual(["a", "b"]);
    expect(messages).toEqual([expect.stringMatching(/a closing } is missing\. What it held before stays in use\.$/)]);
    expect(load().names).toEqual(["a", "b"]);
    write(MCP_JSON, server("c"));
    expect(load()).toMatchObject({ names: ["a", "c", "off"], messages: [] });
  });

  it("so does one that cannot be read, and one in TOML", () => {
    const { write, load } = remembered();
    write(SETTINGS_TOML, '[mcp_servers.t]\ncommand = "x"\n');
    const file = write(SETTINGS, server("s"));
    expect(load().names).toEqual(["s", "t"]);
    write(SETTINGS_TOML, "[mcp_servers.t\n");
    unlinkSync(file);
    mkdirSync(file);
    const { names, messages } = load();
    expect(names).toEqual(["s", "t"]);
    expect(messages.filter((message) => message.endsWith("What it held before stays in use."))).toHaveLength(2);
  });

  it("a file that is gone or empty holds nothing, and one that never could be read neither", () => {
    const { write, load } = remembered();
    const file = write(MCP_JSON, server("a"));
    write(USER_MCP_JSON, "{");
    expect(load().names).toEqual(["a"]);
    write(MCP_JSON, "");
    expect(load()).toMatchObject({ names: [], messages: [expect.not.stringContaining("stays in use")] });
    write(MCP_JSON, server("a"));
    expect(load().names).toEqual(["a"]);
    rmSync(file);
    expect(load().names).toEqual([]);
    // What was there before it was gone is not remembered.
    write(MCP_JSON, "{");
    expect(load().names).toEqual([]);
  });

  it("a broken project file keeps what was allowed of it, until that is taken back", () => {
    const { write, load, user } = remembered();
    const file = write("project/.mcp.json", server("theirs"));
    for (const each of load().untrusted) allowProject(user, each);
    expect(load().names).toEqual(["theirs"]);
    write("project/.mcp.json", "{");
    expect(load().names).toEqual(["theirs"]);
    revoke(user, file);
    expect(load()).toMatchObject({ names: [], untrusted: [{ file, state: "waiting" }] });
  });

  it("a record of consents that is broken for the moment allows nothing", () => {
    const { write, load, user } = remembered();
    write("project/.mcp.json", server("theirs"));
    for (const each of load().untrusted) allowProject(user, each);
    expect(load().names).toEqual(["theirs"]);
    write(".pi/agent/mcp-trust.json", "{");
    expect(load().names).toEqual([]);
  });

  it("is stale when bytes have changed, come or gone, and not when a date has", () => {
    const { write, load, memory, user } = remembered();
    const file = write(MCP_JSON, server("a"));
    load();
    expect(memory.isStale()).toBe(false);
    utimesSync(file, new Date(), new Date());
    write(MCP_JSON, server("a"));
    expect(memory.isStale()).toBe(false);
    write(MCP_JSON, server("b"));
    expect(memory.isStale()).toBe(true);
    load();
    for (const [other, content] of [
      [USER_MCP_JSON, "{"],
      [USER_MCP_JSON, "}"],
      ["project/.pi/settings.json", server("p")],
    ] as const) {
      write(other, content);
      expect(memory.isStale()).toBe(true);
      load();
      expect(memory.isStale()).toBe(false);
    }
    // The record of consents counts once there is something it could be about.
    for (const each of load().untrusted) allowProject(user, each);
    expect(memory.isStale()).toBe(true);
    load();
    rmSync(file);
    expect(memory.isStale()).toBe(true);
  });

  it("a file that is named on the command line counts like the others, also before it is there", () => {
    const { write, memory, user, home } = remembered();
    const flags = { sources: [`${home}/named.json`, JSON.stringify(server("text"))] };
    const load = () => loadConfig({ ...user, flags }, memory).servers.map(({ name }) => name);
    expect(load()).toEqual(["text"]);
    expect(memory.isStale()).toBe(false);
    write("named.json", server("named"));
    expect(memory.isStale()).toBe(true);
    expect(load()).toEqual(["named", "text"]);
    write("named.json", "{");
    expect(load()).toEqual(["named", "text"]);
  });

  it("what is not looked for any more makes nothing stale", () => {
    const { write, load, memory, user } = remembered();
    const file = write("project/.mcp.json", server("theirs"));
    load();
    rmSync(file);
    load();
    allowProject(user, { realPath: "/elsewhere", sha256: "0".repeat(64) });
    expect(memory.isStale()).toBe(false);
  });
});
