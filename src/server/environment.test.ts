import { describe, expect, it, test } from "vitest";
import { inheritedEnv, inheritedProxies, inheritedSecrets, withoutHandedOver } from "./environment.ts";

const ENV = {
  PATH: "/bin",
  HOME: "/home/x",
  OPENAI_API_KEY: "k",
  GITHUB_TOKEN: "t",
  DATABASE_URL: "postgres://u:p@h/db",
  PLAIN_URL: "https://h/x",
  USER_URL: "https://u@h/x",
  EMPTY_TOKEN: "",
  SSH_AUTH_SOCK: "/tmp/agent",
  HTTPS_PROXY: "http://u:p@proxy:1",
  no_proxy: "localhost",
};

describe("what looks secret and would be inherited", () => {
  it("is told by name alone, of what no program needs", () => {
    expect(inheritedSecrets("all", ENV)).toEqual(["DATABASE_URL", "GITHUB_TOKEN", "OPENAI_API_KEY"]);
    expect(inheritedSecrets("safe", ENV)).toEqual([]);
  });

  it("is beside the variables that name proxies", () => {
    expect(inheritedProxies("all", ENV)).toEqual(["HTTPS_PROXY", "no_proxy"]);
    expect(inheritedProxies("safe", ENV)).toEqual(["HTTPS_PROXY", "no_proxy"]);
    expect(inheritedProxies("all", { HTTP_PROXY: "" })).toEqual([]);
  });
});

test.each(["all", "safe"] as const)("what an editor handed over is inherited by nobody (%s)", (policy) => {
  const env = { PATH: "/bin", PI_ACP_MCP_SERVERS: "[token]", pi_acp_mcp_servers: "[token]" };
  expect(inheritedEnv(policy, env)).toEqual({ PATH: "/bin" });
});

test("an environment without it is passed on as it is", () => {
  const env = { PATH: "/bin" };
  expect(withoutHandedOver(env)).toBe(env);
});
