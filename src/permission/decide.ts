import { createHash } from "node:crypto";
import { matchesName } from "../config/name-pattern.ts";
import { visible } from "../config/problems.ts";
import type {
  FieldSource,
  KeptPermission,
  PermissionRule,
  PermissionSettings,
  ServerConfig,
  UseKind,
} from "../config/record.ts";
import type { ToolAnnotations } from "../protocol/types.ts";

/** What somebody wants to use. */
export interface Use {
  readonly server: string;
  readonly kind: UseKind;
  /** Of the tool or the prompt; the address of the resource. */
  readonly name: string;
}

/**
 * What may be done with a use. `look`: that depends on what the tool says of itself, which was not given. `why` of a
 * question is what wants it, "mode `ask` (/x/mcp.json:3)"; of a refusal it is a clause.
 */
export type Verdict =
  | { readonly effect: "allow" }
  | { readonly effect: "look" }
  | { readonly effect: "ask"; readonly why: string }
  | { readonly effect: "deny"; readonly why: string };

/**
 * `hints`: what a tool says of itself; `unknown` until it has been looked up, `untrusted` where that does not count. A
 * rule that denies is stronger than one that asks, and that than one that allows. No rule makes `plan` looser.
 */
export function decide(
  { mode, modeSource, rules }: PermissionSettings,
  use: Use,
  hints: ToolAnnotations | "unknown" | "untrusted",
): Verdict {
  const matching = rules.filter((rule) => matches(rule, use));
  const find = (effect: PermissionRule["effect"]) => matching.find((rule) => rule.effect === effect);
  const denied = find("deny");
  if (denied) return { effect: "deny", why: `the rule ${describeRule(denied)} forbids it` };
  const modeIs = `mode \`${mode}\`${modeSource ? ` (${placeOf(modeSource)})` : ""}`;
  if (mode === "plan") {
    if (hints === "unknown") return { effect: "look" };
    const what = "allows only what says that it does nothing but read";
    if (hints === "untrusted") {
      return { effect: "deny", why: `${modeIs} ${what}, and what this server says of itself is not trusted` };
    }
    if (hints.readOnlyHint !== true) return { effect: "deny", why: `${modeIs} ${what}` };
  }
  const asked = find("ask");
  if (asked) return { effect: "ask", why: `the rule ${describeRule(asked)}` };
  if (mode !== "ask" || find("allow")) return { effect: "allow" };
  if (hints === "unknown") return { effect: "look" };
  return hints !== "untrusted" && isHarmless(hints) ? { effect: "allow" } : { effect: "ask", why: modeIs };
}

/**
 * Whether a tool says that it is harmless [S2-43]: that it only reads, or that it destroys nothing and reaches nothing beyond
 * the server. Where it contradicts itself, that it only reads is what counts.
 */
export function isHarmless({ readOnlyHint, destructiveHint, openWorldHint }: ToolAnnotations): boolean {
  return readOnlyHint === true || (destructiveHint === false && openWorldHint === false);
}

function matches({ patterns }: PermissionRule, { server, kind, name }: Use): boolean {
  return patterns.some(
    (pattern) =>
      (pattern.kind === "any" || pattern.kind === kind) &&
      matchesName(pattern.server, server) &&
      matchesName(pattern.name, name),
  );
}

export function describeRule({ written, effect, source }: PermissionRule): string {
  const text = visible(written);
  return `${text.length > 80 ? `${text.slice(0, 80)}…` : text} of \`permission.${effect}\` in ${placeOf(source)}`;
}

export function placeOf({ layer, file, line }: FieldSource): string {
  return layer === "environment" ? file : `${visible(file)}:${line}`;
}

/**
 * What an answer for longer is bound to: another program or address under the name of a server is asked about again. As
 * written, without variables and headers, in which tokens are changed now and then.
 */
export function serverIdentity({ target }: Pick<ServerConfig, "target">): string {
  const parts =
    target.kind === "stdio" ? [target.kind, target.command, target.args, target.cwd ?? ""] : [target.kind, target.url];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Whether a person has allowed it for good. */
export function isKept(kept: readonly KeptPermission[], { server, kind, name }: Use, identity: string): boolean {
  return kept.some(
    (each) => each.server === server && each.identity === identity && each.kind === kind && each.name === name,
  );
}
