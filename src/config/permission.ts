import { getNodeValue } from "jsonc-parser";
import { type Field, fieldsOf } from "./entries.ts";
import { type JsonDocument, type JsonNode, positionOf } from "./json-file.ts";
import { nearest } from "./nearest.ts";
import { quote } from "./problems.ts";
import type {
  ConfigProblem,
  FieldSource,
  KeptPermission,
  PermissionMode,
  PermissionRule,
  PermissionSettings,
  UsePattern,
} from "./record.ts";

/** The variable that says the mode, above a person's files. */
export const PERMISSION_VARIABLE = "PI_MCP_PERMISSION_MODE";

/** From the loosest to the strictest. */
export const PERMISSION_MODES: readonly PermissionMode[] = ["yolo", "write", "ask", "plan"];
const EFFECTS = ["allow", "ask", "deny"] as const;
const KINDS = ["tool", "resource", "prompt"] as const;

/** Of a project's file: a stranger's mistakes are not to fill the screen. */
const MAX_PROBLEMS = 3;

/** Nobody writes more, and a stranger's file must not delay the start of an agent. */
const MAX_RULES = 500;
const MAX_RULE_CHARS = 400;
/** Ways to take a text apart; the name of a server has no more dots. */
const MAX_SPLITS = 8;

/** What there may be something about permission in. */
export interface PermissionSources {
  /** The person's own files, from low to high. */
  readonly own: readonly JsonDocument[];
  /** Those of them that cannot be read and say something about permission. */
  readonly broken: readonly string[];
  /** Files of the project, also such as nobody has allowed: they can only make it stricter. */
  readonly project: readonly JsonDocument[];
  readonly env: NodeJS.ProcessEnv;
  /** What was named on the command line, which wins over all else that is the person's word. */
  readonly flags: readonly JsonDocument[];
  /** Read when there is anything it could be about. */
  readonly kept: () => readonly KeptPermission[];
}

/**
 * What may be used without asking, from `permission` of all files; undefined where nothing is said. What cannot be read
 * there has most likely been meant to forbid something, so then everything is asked about.
 */
export function readPermission(
  { own, broken, project, env, flags, kept }: PermissionSources,
  problems: ConfigProblem[],
): PermissionSettings | undefined {
  const parts = [
    ...own.flatMap((document) => readPart(document, "own", problems) ?? []),
    ...broken.map((file): Part => ({ rules: [], fault: { layer: "own", file, line: 1, column: 1 } })),
    ...readVariable(env, problems),
    ...flags.flatMap((document) => readPart(document, "flag", problems) ?? []),
  ];
  const strangers = project.flatMap((document) => {
    const found: ConfigProblem[] = [];
    const part = readPart(document, "project", found);
    problems.push(...found.slice(0, MAX_PROBLEMS));
    return part ?? [];
  });
  if (parts.length + strangers.length === 0) return undefined;
  let mode: Mode = parts.findLast((part) => part.mode !== undefined)?.mode ?? { word: "yolo" };
  const floors = strangers.flatMap((part) => part.mode ?? []);
  const faults = [...parts, ...strangers].flatMap(({ fault }) => (fault === undefined ? [] : ask(fault)));
  for (const other of [...floors, ...faults]) {
    if (PERMISSION_MODES.indexOf(other.word) > PERMISSION_MODES.indexOf(mode.word)) mode = other;
  }
  const rules = [
    ...parts.flatMap((part) => part.rules),
    ...strangers.flatMap((part) => part.rules.filter(({ effect }) => effect !== "allow")),
  ];
  return {
    mode: mode.word,
    ...(mode.source && { modeSource: mode.source }),
    rules,
    kept: mode.word === "ask" || rules.some(({ effect }) => effect === "ask") ? kept() : [],
  };
}

/** Whether there is anything about permission in a file. */
export function saysPermission(document: JsonDocument): boolean {
  return document.root.type === "object" && fieldsOf(document, document.root).has("permission");
}

interface Mode {
  readonly word: PermissionMode;
  readonly source?: FieldSource;
}

/** What one file says. */
interface Part {
  readonly mode?: Mode;
  readonly rules: readonly PermissionRule[];
  /** Where something stands that cannot be read. */
  readonly fault?: FieldSource;
}

function ask(source: FieldSource): Mode {
  return { word: "ask", source };
}

function readVariable(env: NodeJS.ProcessEnv, problems: ConfigProblem[]): Part[] {
  const written = env[PERMISSION_VARIABLE]?.trim();
  if (!written) return [];
  const source = { layer: "environment", file: PERMISSION_VARIABLE, line: 1, column: 1 } as const;
  const word = wordOf(written);
  if (word !== undefined) return [{ mode: { word, source }, rules: [] }];
  const message = `This variable must be one of ${PERMISSION_MODES.join(", ")}, not ${quote(written)}. ${ASKED}`;
  problems.push({ file: PERMISSION_VARIABLE, line: 1, column: 1, severity: "error", message });
  return [{ rules: [], fault: source }];
}

const ASKED = "Until it is mended, each use of a server is asked about.";

function wordOf(written: unknown): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => mode === written);
}

function readPart(
  document: JsonDocument,
  layer: "own" | "flag" | "project",
  problems: ConfigProblem[],
): Part | undefined {
  if (document.root.type !== "object") return undefined;
  const field = fieldsOf(document, document.root).get("permission");
  if (field === undefined) return undefined;
  const place = (node: JsonNode): FieldSource => ({ layer, ...positionOf(document, node) });
  let fault: FieldSource | undefined;
  const wrong = (node: JsonNode, message: string) => {
    problems.push({ ...positionOf(document, node), severity: "error", message: `${message} ${ASKED}` });
    fault ??= place(node);
  };
  const rules: PermissionRule[] = [];
  let mode: Mode | undefined;
  const readMode = ({ key, value }: Field) => {
    const word = wordOf(value.value);
    if (word === undefined) wrong(value, `"${key.value}" must be one of ${PERMISSION_MODES.map(quote).join(", ")}.`);
    else mode = { word, source: place(key) };
  };
  if (field.value.type === "string") readMode(field);
  else if (field.value.type !== "object") wrong(field.value, '"permission" must be an object, or the word for a mode.');
  const members = field.value.type === "object" ? fieldsOf(document, field.value) : new Map<string, Field>();
  for (const [name, member] of members) {
    const effect = EFFECTS.find((each) => each === name);
    if (name === "mode") readMode(member);
    else if (effect === undefined) {
      const meant = nearest(name, ["mode", ...EFFECTS]);
      const hint = meant === undefined ? `known are "mode", "allow", "ask", "deny"` : `is "${meant}" meant?`;
      wrong(member.key, `${quote(name)} is not known in "permission"; ${hint}.`);
    } else if (member.value.type !== "array") wrong(member.value, `"${name}" must be an array of rules.`);
    else {
      if (effect === "allow" && layer === "project") {
        const message = '"allow" counts in your own files alone: a project can only make it stricter.';
        problems.push({ ...positionOf(document, member.key), severity: "warning", message });
      }
      const items = member.value.children ?? [];
      if (items.length > MAX_RULES) wrong(member.key, `Of "${name}" no more than ${MAX_RULES} rules are read.`);
      for (const item of items.slice(0, MAX_RULES)) {
        const patterns = patternsOf(getNodeValue(item), effect);
        const written = document.text.slice(item.offset, item.offset + Math.min(item.length, MAX_RULE_CHARS));
        if (patterns !== undefined) rules.push({ effect, patterns, written, source: place(item) });
        else wrong(item, `A rule is "server", "server.tool", or { "server": …, "tool": … } ("resource", "prompt").`);
      }
    }
  }
  return { rules, ...(mode && { mode }), ...(fault && { fault }) };
}

/**
 * What a rule may mean. In a text the server ends at the first dot. Names may have dots themselves: what forbids
 * counts for every way to take it apart, what allows for the first one alone, and there is the long form.
 */
function patternsOf(rule: unknown, effect: PermissionRule["effect"]): UsePattern[] | undefined {
  if (typeof rule === "object" && rule !== null && !Array.isArray(rule)) return longForm(rule);
  if (typeof rule !== "string" || rule.trim() === "" || rule.length > MAX_RULE_CHARS) return undefined;
  const text = rule.trim();
  const dots = [...text.matchAll(/\./g)].map(({ index }) => index);
  const splits = dots.slice(0, MAX_SPLITS).map((dot) => pattern(text.slice(0, dot), text.slice(dot + 1)));
  const whole = pattern(text, "*");
  if (splits[0] === undefined) return [whole];
  return effect === "allow" ? [splits[0]] : [...splits, whole];
}

function pattern(server: string, name: string): UsePattern {
  const kind = KINDS.find((each) => name.startsWith(`${each}:`));
  if (kind !== undefined) return { server, kind, name: name.slice(kind.length + 1) };
  return { server, kind: name === "*" ? "any" : "tool", name };
}

function longForm(rule: object): UsePattern[] | undefined {
  const { server, ...rest } = rule as Record<string, unknown>;
  const named = Object.entries(rest);
  if (typeof server !== "string" || named.length > 1) return undefined;
  if (named[0] === undefined) return [{ server, kind: "any", name: "*" }];
  const [word, name] = named[0];
  const kind = KINDS.find((each) => each === word);
  return kind === undefined || typeof name !== "string" ? undefined : [{ server, kind, name }];
}
