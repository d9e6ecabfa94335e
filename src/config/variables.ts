import type { ServerPolicy } from "./record.ts";

export type VariableForms = ServerPolicy["variableForms"];

const NAME = "[A-Za-z_][A-Za-z0-9_]*";

/**
 * `${NAME}` and `$NAME` (S1-13). Whatever else has a dollar sign, such as `$5`, `${bad name}` or `${NAME:-x}`, is text
 * like any other.
 */
const PLAIN = new RegExp(`\\$(?:\\{(${NAME})\\}|(${NAME}))`, "g");

/**
 * What pi and other clients write beside these. An escape counts from left to right: `$${NAME}` is the text `${NAME}`.
 * What only begins like a form, such as `${NAME%x}`, is text.
 */
const ALL = new RegExp(
  [
    String.raw`\$(?<escaped>[$!])`,
    String.raw`\$\{(?:env:)?(?<braced>${NAME})(?::-(?<fallback>[^{}]*))?\}`,
    String.raw`\$env:(?<shell>${NAME})`,
    String.raw`\{env:(?<inner>${NAME})\}`,
    String.raw`\$(?<bare>${NAME})`,
  ].join("|"),
  "g",
);

const ONE_VARIABLE = new RegExp(`^${PLAIN.source}$`);

/** One variable in a text. */
export interface Variable {
  readonly name: string;
  readonly written: string;
  /** `$NAME`, which may be no variable at all: `pa$word`. */
  readonly isBare: boolean;
  /** What is said to stand there when it is not set or empty. */
  readonly fallback?: string;
}

export function holdsVariable(text: string, forms: VariableForms): boolean {
  if (forms === "plain") return text.search(PLAIN) !== -1;
  return [...text.matchAll(ALL)].some(({ groups }) => groups?.escaped === undefined);
}

/** Variables of any form that are none in these forms, without the default in them: `${NAME:-…}`, `$env:NAME`, `{env:NAME}`. */
export function variablesNotIn(text: string, forms: VariableForms): string[] {
  if (forms === "all") return [];
  return [...text.matchAll(ALL)].flatMap(({ 0: written, groups = {} }) => {
    const { escaped, braced, fallback, bare } = groups;
    if (escaped !== undefined || bare !== undefined) return [];
    if (braced !== undefined && fallback !== undefined) return [`\${${braced}:-…}`];
    return written === `\${${braced}}` ? [] : [written];
  });
}

/** Whether the text is a variable and nothing else. */
export function isVariable(text: string): boolean {
  return ONE_VARIABLE.test(text);
}

/** Replaces each variable by what `replacement` makes of it. What it returns is not searched again. */
export function replaceVariables(
  text: string,
  forms: VariableForms,
  replacement: (variable: Variable) => string,
): string {
  if (forms === "plain") {
    return text.replace(PLAIN, (written: string, braced?: string, bare?: string) =>
      replacement({ name: braced ?? bare ?? "", written, isBare: bare !== undefined }),
    );
  }
  return text.replace(ALL, (written: string, ...rest) => {
    const { escaped, braced, fallback, shell, inner, bare }: Record<string, string | undefined> = rest.at(-1);
    if (escaped !== undefined) return escaped;
    const name = braced ?? shell ?? inner ?? bare ?? "";
    return replacement({ name, written, isBare: bare !== undefined, ...(fallback !== undefined && { fallback }) });
  });
}

/** Whether the text may be the name of a variable. */
export function isVariableName(text: string): boolean {
  return new RegExp(`^${NAME}$`).test(text);
}

/**
 * The command whose output a value is: it begins with `!`. Two of them stand for one and for no command. Empty when there
 * is nothing behind the sign.
 */
export function commandOf(value: string, forms: VariableForms): string | undefined {
  return forms === "all" && /^!(?!!)/.test(value) ? value.slice(1).trim() : undefined;
}
