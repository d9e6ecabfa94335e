import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type FakeStdio, fakeHttp, fakeStdio, type ServerScript, tool } from "../ground/fake-server.ts";
import { type Home, temporaryHome } from "../ground/home.ts";
import { until } from "../ground/wait.ts";
import { mcp, sessionOf, sessionWith } from "./open.ts";

const FILES: ServerScript = {
  tools: [
    tool("read_file", {
      description: "Reads a file from disk. Large ones are cut.",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string", description: "Where it lies." }, head: { type: "integer" } },
        required: ["path"],
      },
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object", properties: { text: { type: "string" } } },
    }),
    tool("delete_file", { description: "Removes a file.", annotations: { destructiveHint: true } }),
  ],
};

const WEATHER: ServerScript = { tools: [tool("forecast", { description: "Weather of the next days in a city." })] };

const folderOf = (home: Home) => join(home.agentDir, "mcp-catalog");
const filesOf = (home: Home) =>
  existsSync(folderOf(home)) ? readdirSync(folderOf(home)).filter((name) => name.endsWith(".json")) : [];
const keptTexts = (home: Home) => filesOf(home).map((name) => readFileSync(join(folderOf(home), name), "utf8"));

/** Two servers of an `mcp.json`. */
async function twoServers(home: Home): Promise<{ files: FakeStdio; weather: FakeStdio }> {
  const files = await fakeStdio(home, FILES);
  const weather = await fakeStdio(home, WEATHER);
  const { name: _, ...first } = files.entry("files");
  const { name: __, ...second } = weather.entry("weather");
  home.write({ mcp: { mcpServers: { files: first, weather: second } } });
  return { files, weather };
}

describe("search", () => {
  test("starts no server, says whose tools are not known and how to list them, and finds them afterwards", async () => {
    await using home = await temporaryHome();
    const { files, weather } = await twoServers(home);
    await using session = sessionOf(home);
    const search = { action: "search", query: "read a file" };
    expect(await mcp(session, search)).toMatchObject({
      isError: false,
      text: [
        'No tools are known to search for "read a file".',
        "[Not searched, since their tools are not known yet: files, weather; action list_tools (server) makes them known]",
      ].join("\n"),
    });
    expect([...files.starts(), ...weather.starts()]).toEqual([]);
    await mcp(session, { action: "list_tools", server: "files" });
    expect((await mcp(session, search)).text.split("\n")).toEqual([
      'Tools for "read a file" (2 of 2), best first, as `server: tool(arguments)`:',
      "- files: read_file(path: string, head?: integer) // Reads a file from disk.",
      "- files: delete_file() // Removes a file.",
      "Use one with action call (server, tool, args); action describe (server, tool) gives its whole schema.",
      "[Not searched, since their tools are not known yet: weather; action list_tools (server) makes them known]",
    ]);
    expect(weather.starts()).toEqual([]);
  });

  test("and describe answer a second session from disk, byte for byte, with no server running", async () => {
    await using home = await temporaryHome();
    const { files, weather } = await twoServers(home);
    const asked = [
      { action: "search", query: "weather tomorrow" },
      { action: "describe", server: "files", tool: "read_file" },
    ];
    const first = sessionOf(home);
    for (const server of ["files", "weather"]) await mcp(first, { action: "list_tools", server });
    const before: string[] = [];
    for (const each of asked) before.push((await mcp(first, each)).text);
    await first.close();
    expect([files.starts().length, weather.starts().length]).toEqual([1, 1]);

    await using second = sessionOf(home);
    const after: string[] = [];
    for (const each of asked) after.push((await mcp(second, each)).text);
    expect(after).toEqual(before);
    expect(after[0]).toContain("- weather: forecast() // Weather of the next days in a city.\n");
    expect(after[1]).toBe(
      [
        "MCP server `files` tool `read_file`:",
        "Reads a file from disk. Large ones are cut.",
        "The server says: changes nothing.",
        'Arguments: {"type":"object","properties":{"path":{"type":"string","description":"Where it lies."},"head":{"type":"integer"}},"required":["path"]}',
        'Structured result: {"type":"object","properties":{"text":{"type":"string"}}}',
      ].join("\n"),
    );
    expect([files.starts().length, weather.starts().length]).toEqual([1, 1]);
  });

  test("gives five candidates unless told otherwise, of one server if one is named, and no answer is empty", async () => {
    await using home = await temporaryHome();
    const tools = Array.from({ length: 30 }, (_, at) => tool(`note_${at}`, { description: "Writes a note." }));
    const { session } = await sessionWith(home, { tools });
    await using _ = session;
    await mcp(session, { action: "list_tools", server: "fake" });
    const found = async (more: object) => {
      const { text } = await mcp(session, { action: "search", query: "note", ...more });
      return text.split("\n").filter((line) => line.startsWith("- fake: note_")).length;
    };
    expect(await found({})).toBe(5);
    expect(await found({ limit: 2, server: "fake" })).toBe(2);
    expect(await found({ limit: "7" })).toBe(7);
    expect(await found({ limit: 1e9 })).toBe(20);
    for (const limit of [0, -1, Number.NaN, "x", null, {}]) expect(await found({ limit })).toBe(5);
    const { text } = await mcp(session, { action: "search", query: "zzqqxx" });
    expect(text).toMatch(/^Nothing matches "zzqqxx"\. These exist \(5 of 30\):\n- fake: note_/);
    const nobody = await mcp(session, { action: "search", query: "note", server: "nope" });
    expect([nobody.isError, nobody.text]).toEqual([
      true,
      "no MCP server configured with name `nope`; configured: fake",
    ]);
    expect((await mcp(session, { action: "search", query: " " })).text).toContain("requires a `query`");
  });

  test("follows a server that says its tools have changed, and what it said is there for the next session", async () => {
    await using home = await temporaryHome();
    const listed = (names: string[]) => ({ result: { tools: names.map((name) => tool(name)) } });
    const changed = { notify: [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }], echo: true as const };
    const { server, session } = await sessionWith(home, {
      capabilities: { tools: { listChanged: true } },
      on: { "tools/list": [listed(["former"]), listed(["former", "invented"])], "tools/call": changed },
    });
    await mcp(session, { action: "list_tools", server: "fake" });
    await mcp(session, { action: "call", server: "fake", tool: "former" });
    await server.until("tools/list", 2);
    const answer = await until("the new tool", () => {
      const { found } = session.search("invented");
      return found[0]?.tool.name === "invented" ? found : undefined;
    });
    expect(answer[0]?.score).toBeGreaterThan(0);
    await session.close();
    await using next = sessionOf(home);
    expect(next.search("invented").found[0]?.tool.name).toBe("invented");
    expect(server.starts()).toHaveLength(1);
  });

  test("shows nothing that a terminal obeys or nobody sees, in whatever place of a definition it stands", async () => {
    await using home = await temporaryHome();
    const evil = "a\u001b[31mb\u202ec\u{e0041}d\u200be";
    const { session } = await sessionWith(home, {
      tools: [
        tool(`name${evil}`, {
          description: `read ${evil}`,
          title: evil,
          inputSchema: {
            type: "object",
            description: evil,
            properties: { [evil]: { enum: [evil], default: evil, description: evil } },
          },
        }),
      ],
    });
    await using _ = session;
    await mcp(session, { action: "list_tools", server: "fake" });
    for (const args of [
      { action: "search", query: `read ${evil}` },
      { action: "describe", server: "fake", tool: `name${evil}` },
    ]) {
      const { text, isError } = await mcp(session, args);
      expect(isError).toBe(false);
      for (const letter of ["\u001b", "\u202e", "\u200b", "\u{e0041}"]) expect(text).not.toContain(letter);
    }
    expect((await mcp(session, { action: "describe", server: "fake", tool: `name${evil}` })).text).toContain(
      '"enum":["a\\u001b[31mb\\u202ec\\udb40\\udc41d\\u200be"]',
    );
  });
});

describe("describe", () => {
  test("lists the tools of a server where they are not known, and says which there are", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, FILES, { excludeTools: ["delete_*"] });
    await using _ = session;
    const describeTool = (name: string) => mcp(session, { action: "describe", server: "fake", tool: name });
    expect((await describeTool("delete_file")).text).toContain("is left out by the configuration");
    expect(server.starts()).toEqual([]);
    expect((await describeTool("read_file")).text).toContain('"path":{"type":"string"');
    expect((await describeTool("reed_file")).text).toBe(
      "MCP server `fake` has no tool `reed_file` (available: read_file)",
    );
    expect((await mcp(session, { action: "describe", server: "fake" })).isError).toBe(true);
  });

  test("keeps to the server's limit", async () => {
    await using home = await temporaryHome();
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`p${at}`, { type: "string" }]));
    const { session } = await sessionWith(home, {
      tools: [tool("big", { inputSchema: { type: "object", properties } })],
    });
    await using _ = session;
    const { text } = await mcp(session, { action: "describe", server: "fake", tool: "big" });
    expect(Buffer.byteLength(text)).toBeLessThan(33 * 1024);
    expect(text).toMatch(/\n\[\d+ of \d+ bytes left out\]$/);
  });
});

describe("what is kept", () => {
  test("spares a server of the older protocol the question which one it speaks, and with it one start", async () => {
    await using home = await temporaryHome();
    // As servers do that take the first message for `initialize`.
    const server = await fakeStdio(home, { ...FILES, on: { "server/discover": { exit: 1 } } });
    const { name: _, ...entry } = server.entry("fake");
    home.write({ mcp: { mcpServers: { fake: entry } } });
    for (const starts of [2, 3]) {
      await using session = sessionOf(home);
      expect(await session.listTools("fake")).toHaveLength(2);
      expect(server.starts()).toHaveLength(starts);
    }
    expect(server.params("server/discover")).toHaveLength(1);
  });

  test("is no reason not to ask a server that has become another version, or that was last asked long ago", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, FILES);
    const { name: _, ...entry } = server.entry("fake");
    home.write({ mcp: { mcpServers: { fake: entry } } });
    const connect = async () => {
      await using session = sessionOf(home);
      await session.listTools("fake");
      return server.params("server/discover").length;
    };
    const rewrite = (change: (kept: { era: object; server: object }) => object) => {
      const file = join(folderOf(home), filesOf(home)[0] ?? "");
      writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, "utf8")))));
    };
    expect([await connect(), await connect()]).toEqual([1, 1]);
    rewrite((kept) => ({ ...kept, era: { ...kept.era, askedAt: Date.now() - 8 * 24 * 3_600_000 } }));
    expect([await connect(), await connect()]).toEqual([2, 2]);
    rewrite((kept) => ({ ...kept, server: { ...kept.server, version: "0.0.1" } }));
    expect([await connect(), await connect(), await connect()]).toEqual([2, 3, 3]);
    rewrite((kept) => ({ ...kept, era: { ...kept.era, is: "modern" } }));
    expect(await connect()).toBe(4);
  });

  test("is held against the server beside the first call it answers", async () => {
    await using home = await temporaryHome();
    const former = { result: { tools: [tool("echo")] } };
    const now = { result: { tools: [tool("echo"), tool("invented")] } };
    const { server, session } = await sessionWith(home, { on: { "tools/list": [former, now] } });
    await session.listTools("fake");
    await session.close();
    await using next = sessionOf(home);
    expect(next.search("invented").found[0]?.score).toBe(0);
    const call = { action: "call", server: "fake", tool: "echo" };
    for (let calls = 0; calls < 3; calls++) expect((await mcp(next, call)).isError).toBe(false);
    await until("the new tool", () => (next.search("invented").found[0]?.score ? true : undefined));
    expect(server.params("tools/list")).toHaveLength(2);
  });

  test("mends the arguments of a first call, and refuses none for a tool it does not know", async () => {
    await using home = await temporaryHome();
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const { server, session } = await sessionWith(home, {
      tools: [tool("echo", { inputSchema: schema }), tool("later")],
      on: { "tools/list": [{ result: { tools: [tool("echo", { inputSchema: schema })] } }, { usual: true }] },
    });
    await session.listTools("fake");
    await session.close();
    for (const name of ["echo", "later"]) {
      await using next = sessionOf(home);
      const call = { action: "call", server: "fake", tool: name, args: { n: "5" } };
      expect((await mcp(next, call)).isError).toBe(false);
    }
    expect(server.params("tools/call").map((params) => params?.arguments)).toEqual([{ n: 5 }, { n: "5" }]);
  });

  test("[S1-19] does not stand in for a listing that was asked for", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, FILES);
    await mcp(session, { action: "list_tools", server: "fake" });
    await session.close();
    await using next = sessionOf(home);
    expect((await mcp(next, { action: "list_tools", server: "fake" })).text).toContain("- read_file — Reads a file");
    expect(server.starts()).toHaveLength(2);
  });

  test("stays when a server has nothing but trouble to list", async () => {
    await using home = await temporaryHome();
    const script = { on: { "tools/list": [{ usual: true }, { result: { tools: "none" } }] } } as const;
    const { session } = await sessionWith(home, script);
    await session.listTools("fake");
    await session.listTools("fake");
    await session.close();
    await using next = sessionOf(home);
    expect(next.search("echo").found.map((found) => found.tool.name)).toEqual(["echo"]);
  });

  test("serves whichever of its tools the configuration wants, under any name, and no other configuration", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, FILES);
    await session.listTools("fake");
    await session.close();
    const known = (entry: object) => {
      home.write({ settings: { mcpServers: [entry] } });
      const { found, unlisted } = sessionOf(home).search("file");
      return [found.map((each) => `${each.server} ${each.tool.name}`), unlisted];
    };
    expect(known(server.entry("other", { includeTools: ["read_*"] }))).toEqual([["other read_file"], []]);
    expect(known(server.entry("fake", { env: { MODE: "admin" } }))).toEqual([[], ["fake"]]);
    expect(server.starts()).toHaveLength(1);
  });

  test("of a server that a file of the project adds needs consent: without it nothing is read or written", async () => {
    await using home = await temporaryHome();
    const server = await fakeStdio(home, FILES);
    const { name: _, ...entry } = server.entry("x");
    home.write({ settings: { mcpServers: [server.entry("own")] } });
    await using session = sessionOf(home);
    await session.listTools("own");
    home.write({ settings: { mcpServers: [] }, files: { "project/.mcp.json": { mcpServers: { theirs: entry } } } });
    await using next = sessionOf(home);
    expect(next.search("read a file")).toEqual({ found: [], total: 0, unlisted: [] });
    expect((await mcp(next, { action: "describe", server: "theirs", tool: "read_file" })).isError).toBe(true);
    expect(filesOf(home)).toHaveLength(1);
  });

  test("is whole though many sessions keep it at once, and a damaged file is listed anew", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, FILES);
    const sessions = [session, sessionOf(home), sessionOf(home), sessionOf(home)];
    await Promise.all(sessions.map((each) => each.listTools("fake")));
    await Promise.all(sessions.map((each) => each.close()));
    expect(filesOf(home)).toHaveLength(1);
    const file = join(folderOf(home), filesOf(home)[0] ?? "");
    const text = readFileSync(file, "utf8");
    expect(JSON.parse(text).tools).toHaveLength(2);
    writeFileSync(file, text.slice(0, text.length / 2));
    await using next = sessionOf(home);
    expect(next.search("file").unlisted).toEqual(["fake"]);
    await next.listTools("fake");
    expect(JSON.parse(readFileSync(file, "utf8")).tools).toHaveLength(2);
    expect(server.starts()).toHaveLength(5);
  });

  test("breaks nothing, whatever a damaged file says", async () => {
    await using home = await temporaryHome();
    const { server, session } = await sessionWith(home, FILES);
    await session.listTools("fake");
    await session.close();
    const file = join(folderOf(home), filesOf(home)[0] ?? "");
    const text = readFileSync(file, "utf8");
    const values = ["null", "[]", "{}", "-1", '"x"', "true", "[[]]", '[null,{"a":[]}]', "1e999"];
    // Each value in the file, one after the other, is something else.
    const places = [...text.matchAll(/(?<=:)(?:"[^"]*"|\{\}|true|\d+|\{(?="type")|\[(?="))/g)];
    expect(places.length).toBeGreaterThan(20);
    let read = 0;
    for (const [at, { 0: old, index }] of places.entries()) {
      const rest = text.slice(index + old.length);
      const value = values[at % values.length];
      const joined = old === "{" ? `{"anyOf":${value},` : old === "[" ? `[${value},` : value;
      writeFileSync(file, `${text.slice(0, index)}${joined}${rest}`);
      await using next = sessionOf(home);
      read += (await mcp(next, { action: "search", query: "read a file" })).isError ? 0 : 1;
      for (const { server: of, tool: found } of next.search("file").found) {
        expect((await mcp(next, { action: "describe", server: of, tool: found.name })).isError).toBe(false);
      }
    }
    expect(read).toBe(places.length);
    expect(server.starts()).toHaveLength(1);
  });

  test("is no more than this session's where there is no place to keep it", async () => {
    await using home = await temporaryHome();
    writeFileSync(folderOf(home), "in the way");
    const { session } = await sessionWith(home, FILES);
    await using _ = session;
    await session.listTools("fake");
    expect(session.search("read a file").found[0]?.tool.name).toBe("read_file");
    expect(readFileSync(folderOf(home), "utf8")).toBe("in the way");
  });

  test("holds no configured secret, wherever in a definition the server repeats it, and no answer does", async () => {
    await using home = await temporaryHome();
    const secrets = {
      env: "zq-env-value-9",
      arg: "zq-arg-value-9",
      header: "zq-header-value-9",
      query: "zq-query-value-9",
      user: "zq-user-9",
      password: "zq-password-9",
    };
    const ofLocal = [secrets.env, secrets.arg];
    const ofWeb = [secrets.header, secrets.query, secrets.user, secrets.password];
    const saying = (all: readonly string[]): ServerScript => {
      const said = all.join(" ");
      const values = { enum: all, default: said, description: said, pattern: said };
      return {
        instructions: said,
        serverInfo: { name: said, version: said, title: said, description: said },
        tools: [
          tool("leak", {
            title: said,
            description: said,
            inputSchema: {
              type: "object",
              title: said,
              properties: Object.fromEntries(all.map((secret) => [secret, values])),
              required: all,
            },
            outputSchema: { type: "object", properties: { x: { const: said } } },
            annotations: { title: said },
            _meta: { [said]: said },
          }),
          ...all.map((secret) => tool(`leak_${secret}`)),
        ],
      };
    };
    const stdio = await fakeStdio(home, saying(ofLocal));
    const http = await fakeHttp(saying(ofWeb));
    const url = new URL(http.url);
    home.write({
      mcp: {
        mcpServers: {
          local: { command: stdio.command, args: [...stdio.args, "--token", secrets.arg], env: { PLAIN: secrets.env } },
          web: {
            url: `http://${secrets.user}:${secrets.password}@${url.host}${url.pathname}?q=${secrets.query}`,
            headers: { "X-Tenant": secrets.header },
          },
        },
      },
    });
    await using session = sessionOf(home);
    const texts: string[] = [];
    for (const server of ["local", "web"]) {
      await session.listTools(server);
      texts.push((await mcp(session, { action: "search", query: "leak", server })).text);
      texts.push((await mcp(session, { action: "describe", server, tool: "leak" })).text);
    }
    for (const text of texts) expect(text).toContain("[REDACTED]");
    expect(keptTexts(home)).toHaveLength(2);
    const names = readdirSync(folderOf(home)).join(" ");
    for (const text of [...texts, ...keptTexts(home), names])
      for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
    await http.close();
  });
});
