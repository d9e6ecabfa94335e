import { expect, it } from "vitest";
import { temporaryHome } from "../../test/ground/home.ts";
import { loadConfig } from "./load.ts";

it("the surface of all servers is that of the strongest of the person's own files, below what a server says itself", async () => {
  await using home = await temporaryHome();
  const env = { PI_ACP_MCP_SERVERS: '[{"name": "editors", "command": "x"}]' };
  const settings = { mcpServers: [{ name: "settings", command: "x" }] };
  const mcp = { mcpServers: { mcpjson: { command: "x" }, own: { command: "x", surface: "gateway" } } };
  const surfaces = (files: { settings?: object; mcp?: object; project?: object; flag?: object }) => {
    home.write({
      settings: { ...settings, ...files.settings },
      mcp: { ...mcp, ...files.mcp },
      files: { "project/.mcp.json": files.project ?? {} },
    });
    const flags =
      files.flag === undefined ? {} : { flags: { sources: [JSON.stringify({ mcpServers: {}, ...files.flag })] } };
    const { servers, problems } = loadConfig({
      env: { ...home.env(), ...env },
      home: home.home,
      cwd: home.cwd,
      ...flags,
    });
    const all = servers.map(({ name, policy, exposure }) => `${name}: ${policy.surface}, ${exposure}`);
    return { all, problems: problems.map(({ message }) => message) };
  };
  const usual = [
    "editors: direct, direct",
    "mcpjson: split, gateway",
    "own: gateway, gateway",
    "settings: gateway, gateway",
  ];
  expect(surfaces({})).toEqual({ all: usual, problems: [] });
  const split = [
    "editors: split, gateway",
    "mcpjson: split, gateway",
    "own: gateway, gateway",
    "settings: split, gateway",
  ];
  expect(surfaces({ mcp: { mcpSurface: "split" } })).toEqual({ all: split, problems: [] });
  expect(surfaces({ mcp: { mcpSurface: "direct" }, settings: { mcpSurface: "Split" } })).toEqual({
    all: split,
    problems: [],
  });
  expect(surfaces({ settings: { mcpSurface: "direct" }, flag: { mcpSurface: "split" } })).toEqual({
    all: split,
    problems: [],
  });
  expect(surfaces({ mcp: { mcpSurface: "split" }, settings: { mcpSurface: "auto" } }).all).toEqual(usual);
  expect(surfaces({ settings: { mcpSurface: "direct" } }).all).toEqual([
    "editors: direct, direct",
    "mcpjson: direct, direct",
    "own: gateway, gateway",
    "settings: direct, direct",
  ]);
  // A project's file has no say in it.
  expect(surfaces({ project: { mcpSurface: "direct", mcpServers: {} } })).toEqual({ all: usual, problems: [] });
  for (const mcpSurface of ["spilt", ["split"], null]) {
    const problems = ['"mcpSurface" must be one of "auto", "gateway", "split", "direct"; it is not used.'];
    expect(surfaces({ mcp: { mcpSurface } })).toEqual({ all: usual, problems });
  }
});
