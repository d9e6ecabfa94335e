import { visible } from "../config/problems.ts";
import type { KeptPermission, PermissionSettings } from "../config/record.ts";
import { describeRule, placeOf } from "./decide.ts";

/** The mode and where it is set, and how many rules and lasting answers there are; undefined where nothing is asked or denied. */
export function permissionLine({ mode, modeSource, rules, kept }: PermissionSettings): string | undefined {
  if (mode === "yolo" && rules.length === 0) return undefined;
  const where = modeSource === undefined ? "" : ` (${placeOf(modeSource)})`;
  const counts = [count(rules.length, "rule"), count(kept.length, "lasting answer")].filter((text) => text !== "");
  return [`Permission: mode ${mode}${where}`, ...counts].join(", ");
}

/** What another reading of the configuration has made of it; a lasting answer is known to whoever has given it. */
export function permissionChange(
  former: PermissionSettings | undefined,
  now: PermissionSettings | undefined,
): string | undefined {
  const line = (settings: PermissionSettings | undefined) =>
    (settings && permissionLine({ ...settings, kept: [] })) ?? "Permission: nothing is asked";
  const rules = ({ rules }: Pick<PermissionSettings, "rules"> = { rules: [] }) =>
    JSON.stringify(rules.map(({ effect, patterns }) => [effect, patterns]));
  const isSame = (former?.mode ?? "yolo") === (now?.mode ?? "yolo") && rules(former) === rules(now);
  return isSame ? undefined : `${line(now)}.`;
}

function count(number: number, noun: string): string {
  return number === 0 ? "" : `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** All of it, a line each. */
export function describePermission(settings: PermissionSettings): string[] {
  const { mode, modeSource, rules, kept } = settings;
  return [
    `mode ${mode}${modeSource === undefined ? "" : ` (${placeOf(modeSource)})`}`,
    ...rules.map((rule) => `${rule.effect}  ${describeRule(rule)}`),
    ...kept.map((each) => `always  ${describeKept(each)}`),
  ];
}

export function describeKept({ server, kind, name }: KeptPermission): string {
  return `${visible(server)}: ${kind} ${visible(name)}`;
}
