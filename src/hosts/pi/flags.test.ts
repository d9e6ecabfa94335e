import { resolve } from "node:path";
import { expect, test } from "vitest";
import { takeFlags } from "./flags.ts";

function take(...argv: string[]) {
  const registered: string[] = [];
  const flags = takeFlags({ registerFlag: (name, { type }) => void registered.push(`${name} ${type}`) }, argv);
  return { flags, registered };
}

test("nothing is registered when nothing was given", () => {
  expect(take("-p", "--mcp-configs", "x", "mcp-config")).toEqual({ flags: undefined, registered: [] });
});

test("every value counts, a path from where pi was started, and each flag is registered once", () => {
  expect(take("--mcp-config", "a.json", "--strict-mcp-config", "--mcp-config= {}", "--mcp-config", "~/b.json")).toEqual(
    {
      flags: { sources: [resolve("a.json"), " {}", "~/b.json"], isStrict: true },
      registered: ["mcp-config string", "strict-mcp-config boolean"],
    },
  );
});

test.each([[["--mcp-config"]], [["--mcp-config", "-p"]], [["--mcp-config", "@file"]]])(
  "a flag without a value is left to pi, which refuses it (%j)",
  (argv) => {
    expect(take(...argv)).toEqual({ flags: { sources: [], isStrict: false }, registered: ["mcp-config string"] });
  },
);
