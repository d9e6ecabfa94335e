import { expect, test } from "vitest";
import { inheritedEnv, withoutHandedOver } from "./environment.ts";

test.each(["all", "safe"] as const)("what an editor handed over is inherited by nobody (%s)", (policy) => {
  const env = { PATH: "/bin", PI_ACP_MCP_SERVERS: "[token]", pi_acp_mcp_servers: "[token]" };
  expect(inheritedEnv(policy, env)).toEqual({ PATH: "/bin" });
});

test("an environment without it is passed on as it is", () => {
  const env = { PATH: "/bin" };
  expect(withoutHandedOver(env)).toBe(env);
});
