import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { exposureOf, possibleExposures } from "./exposure.ts";
import type { ConfigProblem, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { isIncluded, unmatchedPatterns, withDirectToolsOf } from "./tool-filter.ts";

function read(fields: object): { server: ServerConfig | undefined; problems: string[] } {
  const problems: ConfigProblem[] = [];
  const text = JSON.stringify({ mcpServers: { s: { command: "x", ...fields } } });
  const [entry] = readEntries(documentOf(text), problems).values();
  return {
    server: entry && readServer(entry, "mcpjson", problems),
    problems: brief(problems).map((line) => line.replace(/^\S+ (\w+) Server "s":/, "$1")),
  };
}

function serverOf(fields: object): ServerConfig {
  const { server, problems } = read(fields);
  if (server === undefined) throw new Error(problems.join());
  return server;
}

const included = (fields: object, ...names: string[]) => names.filter((name) => isIncluded(serverOf(fields), name));

describe("the tools of a server", () => {
  it("are all of them when nothing is said", () => {
    expect(read({})).toMatchObject({ server: expect.not.objectContaining({ tools: expect.anything() }), problems: [] });
    expect(included({}, "a", "*")).toEqual(["a", "*"]);
    expect(read({ excludeTools: [] }).server?.tools).toBeUndefined();
  });

  it.each(["includeTools", "allowedTools", "allowed_tools", "enabled_tools", "available_tools"])(
    "are those of %s alone",
    (field) => {
      expect(included({ [field]: ["read", "get_*"] }, "read", "reads", "get_", "get_a", "Read", "x_get_a")).toEqual([
        "read",
        "get_",
        "get_a",
      ]);
      expect(read({ [field]: ["a"] }).problems).toEqual([]);
    },
  );

  it.each(["excludeTools", "disabledTools", "disabled_tools", "blockedTools", "blocked_tools"])(
    "are none of %s, though they are included",
    (field) => {
      expect(included({ [field]: ["rm", "*_all"] }, "rm", "rms", "drop_all", "all")).toEqual(["rms", "all"]);
      expect(included({ includeTools: ["*"], [field]: ["rm"] }, "rm", "ls")).toEqual(["ls"]);
      expect(read({ [field]: ["a"] }).problems).toEqual([]);
    },
  );

  it("are none when the list of those there are is empty, which is said, but all where Goose says so", () => {
    expect(included({ includeTools: [] }, "a")).toEqual([]);
    expect(read({ allowedTools: [] }).problems).toEqual([
      'warning "allowedTools" is empty, so this server has no tool; "disabled": true switches it off.',
    ]);
    expect(read({ available_tools: [] })).toMatchObject({ problems: [] });
    expect(included({ available_tools: [] }, "a")).toEqual(["a"]);
  });

  it("are not guessed from a list that is none: the server is not used", () => {
    for (const [fields, message] of [
      [{ allowedTools: "read" }, 'error "allowedTools" must be an array of strings, not a string.'],
      [{ disabled_tools: ["a", 5] }, 'error "disabled_tools[1]" must be a string, not a number.'],
      [{ includeTools: null }, 'error "includeTools" must be an array of strings, not null.'],
      [{ includeTools: { a: true } }, 'error "includeTools" must be an array of strings, not an object.'],
      [{ directTools: 5 }, 'error "directTools" must be true, false or an array of strings.'],
      [{ directTools: [true] }, 'error "directTools[0]" must be a string, not true or false.'],
    ] as const) {
      expect(read(fields)).toEqual({ server: undefined, problems: [message] });
    }
  });

  it("match a pattern as they match the same as a regular expression", () => {
    const unit = fc.constantFrom(..."ab*.");
    const source = (text: string) => text.replaceAll(".", "\\.").replaceAll("*", "[^]*");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 8 }), fc.string({ unit, maxLength: 8 }), (pattern, name) => {
        const expected = new RegExp(`^${source(pattern)}$`).test(name);
        expect(isIncluded({ exposure: "gateway", tools: { include: [pattern], exclude: [] } }, name)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("are matched in good time, whatever the pattern", () => {
    const tools = { include: [`${"*a".repeat(20_000)}*b`], exclude: [] };
    expect(isIncluded({ exposure: "gateway", tools }, "a".repeat(40_000))).toBe(false);
  });

  it("that are named and not there are found", () => {
    const fields = {
      includeTools: ["a", "b*", "c"],
      excludeTools: ["d"],
      directTools: ["a", "e*"],
      toolExposure: { "a*": "hidden", "f*": "direct" },
    };
    expect(unmatchedPatterns(serverOf(fields), ["a", "bb"])).toEqual([
      ["includeTools", ["c"]],
      ["excludeTools", ["d"]],
      ["directTools", ["e*"]],
      ["toolExposure", ["f*"]],
    ]);
    expect(unmatchedPatterns(serverOf({}), ["a"])).toEqual([]);
  });
});

describe("direct tools", () => {
  const direct = (fields: object) => {
    const server = serverOf(fields);
    const names = ["read", "read_all", "write"].filter((name) => exposureOf(server, name) === "direct");
    return [possibleExposures(server).has("direct"), ...names];
  };

  it("are those that are named, or all, or none", () => {
    expect(direct({})).toEqual([false]);
    expect(direct({ directTools: true })).toEqual([true, "read", "read_all", "write"]);
    expect(direct({ directTools: ["read*"] })).toEqual([true, "read", "read_all"]);
    for (const none of [false, [], "search"]) expect([none, ...direct({ directTools: none })]).toEqual([none, false]);
  });

  it("are those named beside a gateway, and all where the exposure says so", () => {
    expect(direct({ exposure: "gateway", directTools: ["write"] })).toEqual([true, "write"]);
    expect(direct({ exposure: "gateway", directTools: true })).toEqual([false]);
    const both = { exposure: "direct", directTools: ["write"] };
    expect(direct(both)).toEqual([true, "read", "read_all", "write"]);
    expect(read(both).problems).toEqual([
      expect.stringContaining('warning "directTools" is not used, because "exposure" is "direct"'),
    ]);
    expect(direct({ exposure: "direct", directTools: false })).toEqual([true, "read", "read_all", "write"]);
  });

  it("are those a parent agent names in the environment, and no others", () => {
    const servers = [serverOf({}), serverOf({ directTools: true }), serverOf({ directTools: ["x"] })].map(
      (server, index) => ({ ...server, name: ["a", "b/c", "d"][index] ?? "" }),
    );
    const given = (MCP_DIRECT_TOOLS?: string) =>
      withDirectToolsOf({ MCP_DIRECT_TOOLS }, servers).map(({ exposure, directTools }) => directTools ?? exposure);
    for (const unset of [undefined, "", " , "]) expect(given(unset)).toEqual(["gateway", "direct", ["x"]]);
    expect(given("__none__")).toEqual(["gateway", "gateway", "gateway"]);
    expect(given("a, d/read,d/write , other,other/x")).toEqual(["direct", "gateway", ["read", "write"]]);
    expect(given("b/c")).toEqual(["gateway", "direct", "gateway"]);
    expect(given("b/c/t,a/,d,d/x")).toEqual(["direct", ["t"], "direct"]);
  });
});
