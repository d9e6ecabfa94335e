import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import type { PiApi } from "./api.ts";
import piMcp from "./extension.ts";

afterEach(() => vi.restoreAllMocks());

/** A pi that takes note of what is registered with it. */
function pi() {
  const events = new Map<string, (event: object) => unknown>();
  const names: string[] = [];
  const api = {
    on: (name: string, handler: (event: object) => unknown) => void events.set(name, handler),
    registerCommand: (name: string) => void names.push(name),
    registerTool: () => {},
    registerFlag: () => {},
  };
  return { api: api as unknown as PiApi, events, names };
}

test("[S2-10] a pi that is too old for extensions of this kind gets one warning, and nothing else", () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  const { on: _, ...old } = pi().api;
  expect(() => piMcp(old as PiApi)).not.toThrow();
  expect(said.mock.calls).toEqual([["pi-mcp could not be loaded: it needs pi 0.73 or a later one"]]);
});

test("[S2-09] the package says which pi it needs at least, the oldest one it is tested with", () => {
  const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const oldest = "@mariozechner/pi-coding-agent";
  expect(peerDependencies[oldest]).toBe(">=0.73");
  expect(devDependencies["pi-0.73"]).toBe(`npm:${oldest}@0.73.1`);
  // Whoever uses the command line or the library needs no pi.
  expect(peerDependenciesMeta[oldest]).toEqual({ optional: true });
});

test("a session that ends makes room for whichever copy is loaded next", async () => {
  const [first, again] = [pi(), pi()];
  piMcp(first.api);
  expect(first.names).toEqual(["mcp", "mcp-auth"]);
  const key = Symbol.for("pi-mcp.extension");
  const memory = globalThis as { [key]?: string };
  const self = memory[key];
  memory[key] = "file:///another/copy.js";
  piMcp(again.api);
  expect([again.names, again.events.size]).toEqual([[], 0]);
  memory[key] = self ?? "";
  await first.events.get("session_shutdown")?.({ reason: "reload" });
  expect(memory[key]).toBeUndefined();
});
