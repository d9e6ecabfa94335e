import { describe, expect, it } from "vitest";
import { configPaths } from "./paths.ts";

const home = "/home/p";

describe("paths", () => {
  it("default to the home directory", () => {
    for (const env of [{}, { PI_CODING_AGENT_DIR: "", XDG_CONFIG_HOME: "" }]) {
      expect(configPaths({ env, home })).toEqual({
        settings: "/home/p/.pi/agent/settings.json",
        settingsToml: "/home/p/.pi/agent/settings.toml",
        mcpJson: ["/home/p/.config/mcp/mcp.json", "/home/p/.pi/agent/mcp.json"],
      });
    }
  });

  it("follow the agent's directory, with ~ for the home", () => {
    for (const [written, directory] of [
      ["/x/agent", "/x/agent"],
      ["~", "/home/p"],
      ["~/a/", "/home/p/a"],
      [" ~/a ", "/home/p/a"],
    ]) {
      const { settings, mcpJson } = configPaths({ env: { PI_CODING_AGENT_DIR: written }, home });
      expect([settings, mcpJson[1]]).toEqual([`${directory}/settings.json`, `${directory}/mcp.json`]);
    }
  });

  it("follow the XDG directory if it is absolute", () => {
    expect(configPaths({ env: { XDG_CONFIG_HOME: "/x" }, home }).mcpJson[0]).toBe("/x/mcp/mcp.json");
    expect(configPaths({ env: { XDG_CONFIG_HOME: "x" }, home }).mcpJson[0]).toBe("/home/p/.config/mcp/mcp.json");
  });

  it("name one file once", () => {
    const env = { XDG_CONFIG_HOME: "/x", PI_CODING_AGENT_DIR: "/x/mcp" };
    expect(configPaths({ env, home }).mcpJson).toEqual(["/x/mcp/mcp.json"]);
  });
});
