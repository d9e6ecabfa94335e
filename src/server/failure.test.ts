import { describe, expect, it } from "vitest";
import { ORIGINS } from "../config/origins.ts";
import type { ServerConfig } from "../config/record.ts";
import { createRedactor } from "../content/redact.ts";
import { RequestTimeout } from "../protocol/errors.ts";
import { toServerError } from "./failure.ts";

const config: ServerConfig = {
  name: "s",
  origin: "mcpjson",
  source: { file: "/a/mcp.json", line: 3, column: 1 },
  target: { kind: "stdio", command: "x", args: [], env: {} },
  policy: ORIGINS.mcpjson,
  exposure: "gateway",
  fields: {},
};

describe("a time-out", () => {
  const hint = (limit: "start" | "call" | "own", limitFields?: ServerConfig["limitFields"]) => {
    const context = {
      config: { ...config, ...(limitFields && { limitFields }) },
      redactor: createRedactor([], "values"),
    };
    const { category, message } = toServerError(new RequestTimeout("x", 1_000), {
      ...context,
      during: "request",
      limit,
    });
    expect(category).toBe("timeout");
    return message.replace(/^.* timed out after 1s\. /, "");
  };

  it("says where the field stands, which may be another file than the entry's", () => {
    const timeout = { layer: "flag", file: "/b.json", line: 7, column: 1 } as const;
    const context = { redactor: createRedactor([], "values"), during: "request", limit: "call" } as const;
    const own = { ...config, fields: { timeout }, limitFields: { call: "timeout" } };
    const { message } = toServerError(new RequestTimeout("x", 1_000), { ...context, config: own });
    expect(message).toMatch(/raise `timeout` in \/b\.json:7$/);
  });

  it("says what to raise: the field that set the limit, or the one that would", () => {
    expect(hint("call")).toBe("If it needs longer, set `requestTimeoutMs` in /a/mcp.json:3");
    expect(hint("call", { call: "PI_X" })).toBe("If it needs longer, raise `PI_X` in the environment");
    expect(hint("start", { call: "timeout" })).toBe("If it needs longer, set `requestTimeoutMs` in /a/mcp.json:3");
    expect(hint("own", { call: "timeout" })).toMatch(/^That limit came with the call/);
  });
});
