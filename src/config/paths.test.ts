import { describe, expect, it } from "vitest";
import { agentDir, configPaths, userConfigDir } from "./paths.ts";

const home = "/home/p";

describe("paths", () => {
  it("default to the home directory", () => {
    expect(configPaths({ env: {}, home })).toEqual({
      settings: "/home/p/.pi/agent/settings.json",
      settingsToml: "/home/p/.pi/agent/settings.toml",
      mcpJson: ["/home/p/.config/mcp/mcp.json", "/home/p/.pi/agent/mcp.json"],
    });
    expect(agentDir({ env: { PI_CODING_AGENT_DIR: "" }, home })).toBe("/home/p/.pi/agent");
  });

  it("follow the agent's directory, with ~ for the home", () => {
    for (const [written, directory] of [
      ["/x/agent", "/x/agent"],
      ["~", "/home/p"],
      ["~/a/", "/home/p/a"],
      [" ~/a ", "/home/p/a"],
    ]) {
      expect(agentDir({ env: { PI_CODING_AGENT_DIR: written }, home })).toBe(directory);
    }
  });

  it("follow the XDG directory if it is absolute", () => {
    expect(userConfigDir({ env: { XDG_CONFIG_HOME: "/x" }, home })).toBe("/x");
    expect(userConfigDir({ env: { XDG_CONFIG_HOME: "x" }, home })).toBe("/home/p/.config");
  });

  it("name one file once", () => {
    const env = { XDG_CONFIG_HOME: "/x", PI_CODING_AGENT_DIR: "/x/mcp" };
    expect(configPaths({ env, home }).mcpJson).toEqual(["/x/mcp/mcp.json"]);
  });
});
