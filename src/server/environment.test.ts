import { describe, expect, it } from "vitest";
import { inheritedProxies, inheritedSecrets } from "./environment.ts";

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
