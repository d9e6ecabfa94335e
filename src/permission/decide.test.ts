import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PERMISSION_MODES } from "../config/permission.ts";
import type { PermissionMode, PermissionRule, PermissionSettings } from "../config/record.ts";
import type { ToolAnnotations } from "../protocol/types.ts";
import { decide, isHarmless, serverIdentity, type Use } from "./decide.ts";

const SOURCE = { layer: "own", file: "/home/me/mcp.json", line: 3, column: 5 } as const;
const USE: Use = { server: "files", kind: "tool", name: "write_file" };

function rule(effect: PermissionRule["effect"], server: string, name = "*"): PermissionRule {
  const patterns = [{ server, kind: "any", name }] as const;
  return { effect, patterns, written: `"${server}.${name}"`, source: SOURCE };
}

function settings(mode: PermissionMode, ...rules: PermissionRule[]): PermissionSettings {
  return { mode, modeSource: SOURCE, rules, kept: [] };
}

const READS: ToolAnnotations = { readOnlyHint: true };
const CALM: ToolAnnotations = { destructiveHint: false, openWorldHint: false };

describe("what may be used", () => {
  it.each<[PermissionMode, string, string, string, string]>([
    // says nothing, only reads, destroys nothing, not trusted
    ["yolo", "allow", "allow", "allow", "allow"],
    ["write", "allow", "allow", "allow", "allow"],
    ["ask", "ask", "allow", "allow", "ask"],
    ["plan", "deny", "allow", "deny", "deny"],
  ])(
    "in mode %s is what the tool says of itself: nothing %s, reads %s, calm %s, not trusted %s",
    (mode, ...effects) => {
      const hints = [{}, READS, CALM, "untrusted"] as const;
      expect(hints.map((each) => decide(settings(mode), USE, each).effect)).toEqual(effects);
    },
  );

  it("is looked up only where that decides", () => {
    const look = (...args: Parameters<typeof settings>) => decide(settings(...args), USE, "unknown").effect;
    expect(PERMISSION_MODES.map((mode) => look(mode))).toEqual(["allow", "allow", "look", "look"]);
    expect(look("ask", rule("allow", "files"))).toBe("allow");
    expect(look("plan", rule("deny", "files"))).toBe("deny");
    expect(look("ask", rule("ask", "files"))).toBe("ask");
  });

  it("is what the strongest rule says, whatever the order", () => {
    const [allow, ask, deny] = [rule("allow", "*"), rule("ask", "f*"), rule("deny", "files", "*_file")];
    expect(decide(settings("ask", allow), USE, {}).effect).toBe("allow");
    expect(decide(settings("yolo", allow, ask), USE, READS).effect).toBe("ask");
    expect(decide(settings("yolo", deny, ask, allow), USE, READS)).toEqual({
      effect: "deny",
      why: 'the rule "files.*_file" of `permission.deny` in /home/me/mcp.json:3 forbids it',
    });
    expect(decide(settings("ask", rule("allow", "other"), rule("allow", "files", "read*")), USE, {})).toEqual({
      effect: "ask",
      why: "mode `ask` (/home/me/mcp.json:3)",
    });
  });

  it("is not widened by a rule in mode plan, and narrowed by one", () => {
    expect(decide(settings("plan", rule("allow", "*")), USE, {}).effect).toBe("deny");
    expect(decide(settings("plan", rule("ask", "*")), USE, READS).effect).toBe("ask");
  });

  it("tells tools, resources and prompts of one name apart", () => {
    const patterns = [{ server: "*", kind: "resource", name: "x" }] as const;
    const rules = [{ effect: "deny", patterns, written: "", source: SOURCE }] as const;
    const of = (kind: Use["kind"]) => decide({ mode: "yolo", rules, kept: [] }, { server: "s", kind, name: "x" }, {});
    expect([of("tool"), of("resource"), of("prompt")].map(({ effect }) => effect)).toEqual(["allow", "deny", "allow"]);
  });

  it("never becomes looser by a stricter mode, a further question or a further ban", () => {
    const order = ["allow", "ask", "deny"];
    const hints = fc.oneof(
      fc.record(
        { readOnlyHint: fc.boolean(), destructiveHint: fc.boolean(), openWorldHint: fc.boolean() },
        { requiredKeys: [] },
      ),
      fc.constant("untrusted" as const),
    );
    const someRule = fc
      .tuple(fc.constantFrom("allow", "ask", "deny"), fc.constantFrom("*", "files", "f*", "other"))
      .map(([effect, server]) => rule(effect as PermissionRule["effect"], server));
    fc.assert(
      fc.property(
        fc.array(someRule, { maxLength: 4 }),
        fc.nat(3),
        fc.nat(3),
        hints,
        someRule,
        (rules, a, b, said, more) => {
          const mode = (n: number) => PERMISSION_MODES[n] as PermissionMode;
          const strength = (...args: Parameters<typeof settings>) =>
            order.indexOf(decide(settings(...args), USE, said as ToolAnnotations).effect);
          const [loose, strict] = [Math.min(a, b), Math.max(a, b)];
          expect(strength(mode(strict), ...rules)).toBeGreaterThanOrEqual(strength(mode(loose), ...rules));
          if (more.effect === "allow") return;
          expect(strength(mode(a), ...rules, more)).toBeGreaterThanOrEqual(strength(mode(a), ...rules));
        },
      ),
    );
  });
});

describe("a tool is harmless", () => {
  it.each<[ToolAnnotations, boolean]>([
    [{ readOnlyHint: true }, true],
    [{ readOnlyHint: true, destructiveHint: true }, true],
    [{ destructiveHint: false, openWorldHint: false }, true],
    [{}, false],
    [{ destructiveHint: false }, false],
    [{ openWorldHint: false }, false],
    [{ readOnlyHint: false, idempotentHint: true }, false],
  ])("by %j: %s", (annotations, harmless) => {
    expect(isHarmless(annotations)).toBe(harmless);
  });
});

it("another program, argument or address is another server; another token is not", () => {
  const stdio = { kind: "stdio", command: "a", args: ["b"], env: {} } as const;
  const http = { kind: "http", url: "https://h/a", headers: {} } as const;
  const targets = [
    stdio,
    { ...stdio, args: ["b", ""] },
    { ...stdio, command: "b" },
    { ...stdio, cwd: "/x" },
    http,
    { ...http, url: "https://h/b" },
  ];
  expect(new Set(targets.map((target) => serverIdentity({ target }))).size).toBe(targets.length);
  expect(serverIdentity({ target: { ...http, headers: { A: "b" } } })).toBe(serverIdentity({ target: http }));
});
