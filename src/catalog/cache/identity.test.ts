import { describe, expect, it } from "vitest";
import { ORIGINS } from "../../config/origins.ts";
import type { ServerTarget } from "../../config/record.ts";
import { catalogueIdentity } from "./identity.ts";

const STDIO: ServerTarget = { kind: "stdio", command: "x", args: ["a"], env: { A: "1", B: "$TWO" } };
const HTTP: ServerTarget = { kind: "http", url: "https://example.invalid/mcp", headers: { X: "y" } };
const policy = ORIGINS.mcpjson;
const of = (target: ServerTarget, cwd = "/p", more: object = {}) =>
  catalogueIdentity({ target, policy: { ...policy, ...more } }, cwd);

describe("the identity of a catalogue", () => {
  it("is the same for whatever means the same", () => {
    expect(of({ env: { B: "$TWO", A: "1" }, args: ["a"], command: "x", kind: "stdio" })).toBe(of(STDIO));
    expect(of(STDIO, "/p", { requestTimeoutMs: 5, lifecycle: "eager" })).toBe(of(STDIO));
  });

  it("is another for each thing that may change what a server lists", () => {
    const all = [
      of(STDIO),
      of({ ...STDIO, args: [] }),
      of({ ...STDIO, env: { A: "1" } }),
      of({ ...STDIO, env: { A: "2", B: "$TWO" } }),
      of(STDIO, "/q"),
      of(STDIO, "/p", { inheritEnv: "safe" }),
      of(STDIO, "/p", { protocolVersion: "2024-11-05" }),
      of(HTTP),
      of({ ...HTTP, headers: { X: "z" } }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("of an address does not depend on the folder", () => {
    expect(of(HTTP, "/q")).toBe(of(HTTP));
  });
});
