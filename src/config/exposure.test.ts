import { describe, expect, it } from "vitest";
import { brief, documentOf } from "./config.fixture.ts";
import { readEntries } from "./entries.ts";
import { exposureOf, possibleExposures } from "./exposure.ts";
import { gatewayOf } from "./gateways.ts";
import type { ConfigProblem, Origin, ServerConfig } from "./record.ts";
import { readServer } from "./server.ts";
import { isIncluded, withDirectToolsOf } from "./tool-filter.ts";

function read(fields: object, origin: Origin = "mcpjson"): { server: ServerConfig | undefined; problems: string[] } {
  const problems: ConfigProblem[] = [];
  const text = JSON.stringify({ mcpServers: { s: { command: "x", ...fields } } });
  const [entry] = readEntries(documentOf(text), problems).values();
  return {
    server: entry && readServer(entry, origin, problems),
    problems: brief(problems).map((line) => line.replace(/^\S+ (\w+) Server "s":/, "$1")),
  };
}

function serverOf(fields: object, origin?: Origin): ServerConfig {
  const { server, problems } = read(fields, origin);
  if (server === undefined || problems.length > 0) throw new Error(problems.join());
  return server;
}

describe("how a model has a tool", () => {
  it.each([
    ["direct", "direct"],
    ["Deferred", "deferred"],
    ["codemode", "codemode"],
    ["codemode-deferred", "codemode"],
    ["gateway", "gateway"],
    ["hidden", "hidden"],
  ])("is what `exposure` says: %s", (written, exposure) => {
    expect(exposureOf(serverOf({ exposure: written }), "any")).toBe(exposure);
  });

  it("is for one tool what `toolExposure` says: the exact name, then the first pattern, then the lists, then all", () => {
    const server = serverOf({
      exposure: "codemode",
      toolExposure: { "get_*": "direct", "get_s*": "deferred", get_secret: "hidden" },
      directTools: ["get_secret", "list"],
    });
    const tools = ["get_secret", "get_some", "list", "drop", "constructor"];
    expect(tools.map((tool) => exposureOf(server, tool))).toEqual([
      "hidden",
      "direct",
      "direct",
      "codemode",
      "codemode",
    ]);
    expect([...possibleExposures(server)].sort()).toEqual(["codemode", "deferred", "direct", "hidden"]);
    expect(tools.filter((tool) => isIncluded(server, tool))).toEqual(tools.slice(1));
  });

  it("is not guessed where a tool may have been meant to be hidden: the server is not used", () => {
    const words = '"gateway", "direct", "deferred", "codemode", "hidden"';
    expect(read({ toolExposure: { a: "hiden" } })).toEqual({
      server: undefined,
      problems: [`error "a" in "toolExposure" must be one of ${words}.`],
    });
    expect(read({ toolExposure: ["a"] })).toEqual({
      server: undefined,
      problems: [`error "toolExposure" must be an object of tools, each with one of ${words}.`],
    });
    expect(read({ exposure: "hiden" })).toMatchObject({
      server: { exposure: "gateway" },
      problems: [`warning "exposure" should be one of ${words}; "gateway" is used.`],
    });
  });

  it("stays hidden whatever a parent agent asks for", () => {
    const servers = [
      serverOf({ exposure: "hidden" }),
      { ...serverOf({ toolExposure: { rm: "hidden", ls: "deferred" } }), name: "t" },
    ];
    const [all, some] = withDirectToolsOf({ MCP_DIRECT_TOOLS: "s,t" }, servers);
    expect(all && exposureOf(all, "a")).toBe("hidden");
    expect(["rm", "ls", "x"].map((tool) => some && exposureOf(some, tool))).toEqual(["hidden", "direct", "direct"]);
  });
});

describe("the tools that a server brings along", () => {
  const gateways = (fields: object, origin: Origin) =>
    [false, true].map((defersTools) => gatewayOf(serverOf(fields, origin), { defersTools, isMcpTaken: false }));

  it("are those of where it is configured, or of its surface", () => {
    expect(gateways({}, "settings")).toEqual(["gateway", "gateway"]);
    expect(gateways({}, "mcpjson")).toEqual(["split", "split"]);
    expect(gateways({ surface: "gateway" }, "mcpjson")).toEqual(["gateway", "gateway"]);
    expect(gateways({ surface: "auto" }, "mcpjson")).toEqual(["split", "split"]);
    expect(gateways({ exposure: "direct" }, "settings")).toEqual(["gateway", "gateway"]);
  });

  it("are others where another extension has `mcp`", () => {
    const host = { defersTools: true, isMcpTaken: true };
    expect(gatewayOf(serverOf({}, "settings"), host)).toBe("split");
  });

  it("are none where its tools are the model's own, as long as each of them is in reach", () => {
    expect(serverOf({ surface: "direct" }).exposure).toBe("direct");
    expect(gateways({ surface: "direct" }, "mcpjson")).toEqual([undefined, undefined]);
    expect(gateways({ surface: "direct", exposure: "hidden" }, "mcpjson")).toEqual([undefined, undefined]);
    expect(gateways({ surface: "direct", exposure: "codemode" }, "mcpjson")).toEqual(["split", undefined]);
    expect(gateways({ surface: "direct", toolExposure: { a: "deferred" } }, "mcpjson")).toEqual(["split", undefined]);
    expect(gateways({ surface: "direct", directTools: ["a"] }, "mcpjson")).toEqual(["split", "split"]);
  });
});
